/** @module Sends requests to GitHub or GitLab and makes errors of those that fail. */
import type { Clock } from "../../model/clock.ts";
import { GraphformError } from "../../model/errors.ts";
import { defined, isObject, type Json, type JsonObject, jsonIn } from "../../model/json.ts";
import type { Hide } from "../../model/known-secrets.ts";
import { type PassingFailure, type RepeatRules, repeatRequest } from "../../network/repeat-request.ts";
import { type HttpAnswer, HttpError, openHttp, retryAfterIn } from "../../network/send-request.ts";

/** A failed request, without its token: `passing` may be sent again, `lost` may have added something, `refused` fails again. */
class ForgeError extends GraphformError {
  readonly failure: "passing" | "lost" | "refused";
  /** Pause that the forge asks for, in ms. */
  readonly retryAfter: number | undefined;

  constructor(
    failure: ForgeError["failure"],
    code: string,
    message: string,
    options: { hint?: string; cause?: unknown; retryAfter?: number | undefined },
  ) {
    super(code, message, options);
    this.name = "ForgeError";
    this.failure = failure;
    this.retryAfter = options.retryAfter;
  }
}

/** One request; `path` follows the address of the host. */
interface ForgeRequest {
  readonly method: "GET" | "POST" | "PATCH" | "PUT";
  readonly path: string;
  readonly body?: string;
  /** True for a POST that changes nothing: it may be sent again. */
  readonly isRead?: boolean;
}

export interface Host {
  readonly base: string;
  /** Headers that sign in, and those that every request has. */
  readonly headers: { readonly [name: string]: string };
  /** Rights that the token needs, for people. */
  readonly hint: string;
  /** Hides the secrets of the run in the words of the forge. */
  readonly hide: Hide;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

/** Limits of one attempt: time in ms, size in bytes. */
const http = openHttp({ timeout: 30_000, maxSize: 64 * 1024 * 1024 });
/** Entries of a page: the maximum of both forges. */
const pageSize = 100;
const maxPages = 100;
/** Longest pause that a forge may ask for, in ms: no job waits an hour for a comment. */
const maxPause = 120_000;
/** Attempts of a request, and pauses between them in ms: a forge may be away for some 15 s. */
const tries: Omit<RepeatRules, "passing"> = { tries: 5, pauses: { first: 1500, longest: 8000 } };

/**
 * Sends a request, again while that is safe, and returns what `read` makes of its answer; undefined counts as no answer. Redirects are
 * not followed. Rejects with a `ForgeError`, or with `forge-in-clear` if a token would be sent unencrypted over a network.
 */
export async function exchange<T>(
  { base, headers, hint, hide, clock, signal }: Host,
  request: ForgeRequest,
  read: (text: string) => T | undefined,
): Promise<T> {
  const { origin, pathname, protocol, hostname } = new URL(base);
  if (protocol !== "https:" && !["127.0.0.1", "[::1]", "localhost"].includes(hostname))
    throw new GraphformError("forge-in-clear", `a token would be sent in clear text to ${hostname}`, {
      hint: "use an address that begins with https://",
    });
  const { method, path, body } = request;
  // Only a POST adds something each time, and a second one would make a second comment.
  const unknown = method === "POST" && request.isRead !== true ? "lost" : "passing";
  const unanswered = (reason: string, isTrust: boolean, cause?: unknown): ForgeError => {
    const message = `no answer to ${method} ${path} from ${hostname} (${reason})`;
    const hint = isTrust ? "set NODE_EXTRA_CA_CERTS to the file of its authority" : "run the job again";
    return new ForgeError(isTrust ? "refused" : unknown, "forge-unreachable", message, { hint, cause });
  };
  const send = async (): Promise<T> => {
    const wire = { method, origin, path: `${pathname.replace(/\/$/, "")}${path}`, headers };
    const answer = await http.send({ ...wire, ...defined({ body }) }, signal).catch((cause: unknown) => {
      if (!(cause instanceof HttpError)) throw cause;
      const reason = cause.failure === "slow" ? "no answer in time" : cause.code;
      throw unanswered(reason, cause.isAboutTrust, cause);
    });
    const text = answer.body.toString("utf8");
    if (answer.status < 200 || answer.status > 299) {
      const said = jsonIn(text);
      const reason = isObject(said) ? (said["message"] ?? said["error"]) : undefined;
      const message = `${method} ${hostname}${wire.path}: ${answer.status}${typeof reason === "string" ? `: ${hide(reason)}` : ""}`;
      throw refused(answer, message, unknown, hint, clock.now());
    }
    const found = read(text);
    if (found === undefined) throw unanswered("the answer cannot be read", false);
    return found;
  };
  const passing = (error: Error): PassingFailure | undefined => {
    if (!(error instanceof ForgeError) || error.failure !== "passing") return undefined;
    return (error.retryAfter ?? 0) > maxPause ? undefined : { retryAfter: error.retryAfter };
  };
  return repeatRequest(send, { ...tries, passing }, clock, signal);
}

/** Repeats the work if an addition in it was lost: it may be added again once nothing is found. */
export function repeatLost<T>(work: () => Promise<T>, clock: Clock): Promise<T> {
  const passing = (error: Error): PassingFailure | undefined =>
    error instanceof ForgeError && error.failure === "lost" ? {} : undefined;
  return repeatRequest(work, { ...tries, passing }, clock);
}

function refused(
  { status, headers }: HttpAnswer,
  message: string,
  unknown: ForgeError["failure"],
  hint: string,
  now: number,
): ForgeError {
  if (status >= 500)
    return new ForgeError(unknown, "forge-unreachable", message, { hint: "run the job again" });
  const retryAfter = pauseOf(headers, now);
  // GitHub answers 403 to a token that has asked too often, and says so in a header.
  const busy = "too many requests with this token: run the job again later";
  if (status === 429 || (status === 403 && retryAfter !== undefined))
    return new ForgeError("passing", "forge-busy", message, { hint: busy, retryAfter });
  const denied = `the token of this job may not do this: ${message}`;
  if (status === 401 || status === 403) return new ForgeError("refused", "forge-denied", denied, { hint });
  const off = "turn it on in the settings of the repository";
  return new ForgeError("refused", "forge-refused", message, { hint: status === 410 ? off : hint });
}

/** The pause of `Retry-After`, or of GitHub's limit if it is used up; undefined if the headers have neither. */
function pauseOf(headers: HttpAnswer["headers"], now: number): number | undefined {
  const text = (name: string): string => [headers[name] ?? []].flat()[0]?.trim() ?? "";
  const after = retryAfterIn(headers, now);
  if (after !== undefined) return after;
  const reset = text("x-ratelimit-reset");
  if (text("x-ratelimit-remaining") !== "0" || !/^\d+$/.test(reset)) return undefined;
  return Math.max(0, Number(reset) * 1000 - now);
}

/** Sends one request with JSON and returns the JSON of the answer. */
export type Api = (method: ForgeRequest["method"], path: string, body?: JsonObject) => Promise<Json>;

export function apiAt({ headers, ...host }: Host): Api {
  const own = { accept: "application/json", "user-agent": "graphform", ...headers };
  return (method, path, body) => {
    const json = body === undefined ? {} : { "content-type": "application/json" };
    const request = { method, path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    // An answer to a write need not be JSON.
    const read = (text: string): Json | undefined => jsonIn(text) ?? (method === "GET" ? undefined : null);
    return exchange({ ...host, headers: { ...own, ...json } }, request, read);
  };
}

/** The error of an answer of another shape: what exists stays unknown, and nothing may be added because of it. */
export function unreadable(path: string): ForgeError {
  return new ForgeError("refused", "forge-refused", `GET ${path}: the answer is not what the API promises`, {
    hint: "check the address of the API",
  });
}

/** All entries of a list, page after page. `path` has a query. */
export async function allPages(api: Api, path: string): Promise<readonly JsonObject[]> {
  const all: JsonObject[] = [];
  for (let page = 1; page <= maxPages; page += 1) {
    const answer = await api("GET", `${path}&per_page=${pageSize}&page=${page}`);
    if (!Array.isArray(answer)) throw unreadable(path);
    const entries = answer.filter(isObject);
    all.push(...entries);
    if (entries.length < pageSize) return all;
  }
  return all;
}
