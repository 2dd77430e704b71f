/** @module Sends requests to GitHub or GitLab and makes errors of those that fail; asks whether the commit of a pipeline is still the newest one. */

import { type Clock, systemClock } from "../../model/clock.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { defined, isObject, type Json, type JsonObject, jsonIn } from "../../model/json.ts";
import type { Hide } from "../../model/known-secrets.ts";
import { type PassingFailure, type RepeatRules, repeatRequest } from "../../network/repeat-request.ts";
import { type HttpAnswer, HttpError, openHttp } from "../../network/send-request.ts";
import type { Settings } from "../../project/settings.ts";
import type { PlannedCommit } from "../../state/plan-file.ts";

/**
 * A request to a forge that failed; the token is not in it. A `passing` one may be sent again, a `lost` one may have added something,
 * a `refused` one fails again.
 */
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

/** An address that requests are sent to. */
export interface Host {
  readonly base: string;
  /** Headers that sign in, and those that every request has. */
  readonly headers: { readonly [name: string]: string };
  /** Rights that the token needs, for people. */
  readonly hint: string;
  /** Hides the secrets of the run in the words of the forge. */
  readonly hide: Hide;
  readonly clock: Clock;
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
async function exchange<T>(
  { base, headers, hint, hide, clock }: Host,
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
  const unanswered = (reason: string, isTrust: boolean, cause?: unknown): ForgeError =>
    new ForgeError(
      isTrust ? "refused" : unknown,
      "forge-unreachable",
      `no answer to ${method} ${path} from ${hostname} (${reason})`,
      { hint: isTrust ? "set NODE_EXTRA_CA_CERTS to the file of its authority" : "run the job again", cause },
    );
  const send = async (): Promise<T> => {
    const wire = { method, origin, path: `${pathname.replace(/\/$/, "")}${path}`, headers };
    const answer = await http.send({ ...wire, ...defined({ body }) }).catch((cause: unknown) => {
      if (!(cause instanceof HttpError)) throw cause;
      throw unanswered(
        cause.failure === "slow" ? "no answer in time" : cause.code,
        cause.isAboutTrust,
        cause,
      );
    });
    const text = answer.body.toString("utf8");
    if (answer.status < 200 || answer.status > 299) {
      const said = jsonIn(text);
      const reason = isObject(said) ? (said["message"] ?? said["error"]) : undefined;
      const message = `${method} ${path}: ${answer.status}${typeof reason === "string" ? `: ${hide(reason)}` : ""}`;
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
  return repeatRequest(send, { ...tries, passing }, clock);
}

/** Repeats the work if an addition in it was lost: it may be added again once nothing is found. */
export function repeatLost<T>(work: () => Promise<T>, clock: Clock): Promise<T> {
  const passing = (error: Error): PassingFailure | undefined =>
    error instanceof ForgeError && error.failure === "lost" ? {} : undefined;
  return repeatRequest(work, { ...tries, passing }, clock);
}

/** The error of an answer that is no success. */
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
  if (status === 429 || (status === 403 && retryAfter !== undefined))
    return new ForgeError("passing", "forge-busy", message, {
      hint: "too many requests with this token: run the job again later",
      retryAfter,
    });
  if (status === 401 || status === 403)
    return new ForgeError("refused", "forge-denied", `the token of this job may not do this: ${message}`, {
      hint,
    });
  const off = "turn it on in the settings of the repository";
  return new ForgeError("refused", "forge-refused", message, { hint: status === 410 ? off : hint });
}

/** The pause of `Retry-After`, or of GitHub's limit if it is used up; undefined if the headers have neither. */
function pauseOf(headers: HttpAnswer["headers"], now: number): number | undefined {
  const text = (name: string): string => [headers[name] ?? []].flat()[0]?.trim() ?? "";
  const after = text("retry-after");
  if (after !== "") {
    const ms = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now;
    return Number.isNaN(ms) ? 0 : Math.max(0, ms);
  }
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
    // After a write, an answer that is not JSON is an answer all the same.
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

/** The commit that this job runs for; undefined outside of a pipeline, and for a tag, which stands still. */
export function commitOfJob(settings: Settings): PlannedCommit | undefined {
  const branch = settings.get("CI_COMMIT_BRANCH");
  const given =
    settings.get("GITHUB_ACTIONS") === "true"
      ? {
          repository: `${settings.get("GITHUB_SERVER_URL") ?? ""}/${settings.get("GITHUB_REPOSITORY") ?? ""}`,
          ref: settings.get("GITHUB_REF"),
          commit: settings.get("GITHUB_SHA"),
        }
      : {
          repository: settings.get("CI_PROJECT_URL"),
          ref: branch === undefined ? settings.get("CI_MERGE_REQUEST_REF_PATH") : `refs/heads/${branch}`,
          commit: settings.get("CI_COMMIT_SHA"),
        };
  const { repository, ref, commit } = given;
  if (repository === undefined || ref === undefined || commit === undefined) return undefined;
  return /^https?:\/\/[^/]/.test(repository) && !ref.startsWith("refs/tags/")
    ? { repository, ref, commit }
    : undefined;
}

/**
 * Throws `plan-superseded` if the branch that a plan was made from shows another commit by now. Only a job of the same repository can
 * ask; elsewhere nothing is asked. Rejects with a `forge-` error if the repository gives no answer: then nothing may be applied.
 */
export async function assertNewest(
  planned: PlannedCommit | undefined,
  settings: Settings,
  clock: Clock = systemClock,
): Promise<void> {
  if (planned === undefined || commitOfJob(settings)?.repository !== planned.repository) return;
  const { ref, commit } = planned;
  const newest = await commitAt(planned, settings, clock);
  if (newest === commit) return;
  const branch = ref.replace(/^refs\/(?:heads\/)?/, "");
  const now = newest === "" ? "is gone" : `is at ${newest.slice(0, 12)} by now`;
  const message = `this plan was made from the commit ${commit.slice(0, 12)} of ${branch}, which ${now}`;
  const hint = "approve the plan of the newest commit: this one leaves out, or takes back, what came later";
  throw new GraphformError("plan-superseded", message, { hint, exitCode: exitCodes.stale });
}

/** The commit that a ref of a repository shows, asked as git does (protocol version 2, ls-refs); empty if there is no such ref. */
function commitAt({ repository, ref }: PlannedCommit, settings: Settings, clock: Clock): Promise<string> {
  const isGithub = settings.get("GITHUB_ACTIONS") === "true";
  const token = settings.get(isGithub ? "GITHUB_TOKEN" : "CI_JOB_TOKEN");
  const login = `${isGithub ? "x-access-token" : "gitlab-ci-token"}:${token}`;
  const type = "application/x-git-upload-pack";
  return exchange(
    {
      base: repository,
      hide: settings.secrets.hide,
      hint: isGithub
        ? "give the step `env: { GITHUB_TOKEN: ${{ github.token }} }`, and the job `permissions: { contents: read }`"
        : "the token of the job reads the repository: check CI_JOB_TOKEN and CI_PROJECT_URL",
      headers: {
        ...(token === undefined ? {} : { authorization: `Basic ${Buffer.from(login).toString("base64")}` }),
        "content-type": `${type}-request`,
        accept: `${type}-result`,
        "git-protocol": "version=2",
        "user-agent": "git/2 (graphform)",
      },
      clock,
    },
    {
      method: "POST",
      path: ".git/git-upload-pack",
      body: `${packet("command=ls-refs\n")}0001${packet(`ref-prefix ${ref}\n`)}0000`,
      isRead: true,
    },
    (text) => commitIn(text, ref),
  );
}

/** The commit that the list of an answer has for a ref, empty if it has none; undefined if it is no list. */
function commitIn(answer: string, ref: string): string | undefined {
  const bytes = Buffer.from(answer);
  let found = "";
  for (let at = 0; at < bytes.length; ) {
    const size = bytes.toString("latin1", at, at + 4);
    // This ends the list.
    if (size === "0000") return found;
    const length = /^[0-9a-f]{4}$/.test(size) ? Number.parseInt(size, 16) : 0;
    if (length < 4) return undefined;
    const [, commit = "", name] =
      /^([0-9a-f]{40,64}) ([^\n]+)/.exec(bytes.toString("utf8", at + 4, at + length)) ?? [];
    if (name === ref) found = commit;
    at += length;
  }
  return undefined;
}

/** One line of git's protocol: its length in four hexadecimal digits stands before it. */
function packet(line: string): string {
  return `${(Buffer.byteLength(line) + 4).toString(16).padStart(4, "0")}${line}`;
}
