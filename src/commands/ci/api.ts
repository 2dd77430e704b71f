/** @module Sends requests to the API of GitHub or GitLab. */
import type { Clock } from "../../model/clock.ts";
import { GraphformError } from "../../model/errors.ts";
import { defined, isObject, type Json, type JsonObject } from "../../model/json.ts";
import type { Hide } from "../../model/known-secrets.ts";
import { type RepeatRules, repeatRequest } from "../../network/repeat-request.ts";
import { ForgeError, passesAgain, refused, type Sent, unanswered } from "./forge-error.ts";

/** One request; `path` follows the address of the API. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PATCH" | "PUT";
  readonly path: string;
  readonly body?: JsonObject;
}

/**
 * Sends one request and returns the answer. Requests are repeated where that is safe: a POST only after an answer that says that it
 * did nothing, since a second one would make a second comment. Rejects with a `ForgeError`, which has no token in it.
 */
export type Api = (request: ApiRequest) => Promise<Json>;

/** Longest wait for an answer, in ms. */
const patience = 30_000;
/** Entries of a page, which is the most that both take. */
const pageSize = 100;
/** Pages that are read at most. */
const mostPages = 100;
/** Most attempts of a request, and pauses between them in ms: a forge may be away for some 15 s. */
export const tries: Omit<RepeatRules, "passing"> = { tries: 5, pauses: { first: 1500, longest: 8000 } };

/** An address that requests are sent to. */
export interface Host {
  readonly base: string;
  /** Headers that sign in, and those that every request has. */
  readonly headers: { readonly [name: string]: string };
  /** Rights that the token needs, for people. */
  readonly hint: string;
  /** Hides the secrets of the run in the words of the forge. */
  readonly hide: Hide;
}

/** An API at an address. Throws `forge-in-clear`. */
export function apiAt({ clock, ...host }: Host & { readonly clock: Clock }): Api {
  assertPrivate(host.base);
  const headers = { accept: "application/json", "user-agent": "graphform", ...host.headers };
  return ({ method, path, body }) => {
    const sent = { method, path, isRead: method === "GET" };
    const json = body === undefined ? {} : { "content-type": "application/json" };
    const text = body === undefined ? undefined : JSON.stringify(body);
    // After a write an answer that is no JSON is an answer all the same.
    const read = (answer: string): Json | undefined => parsed(answer) ?? (sent.isRead ? undefined : null);
    return exchange({ ...host, headers: { ...headers, ...json } }, sent, text, read, clock);
  };
}

/**
 * Sends a request, again while that is safe, and returns what `read` makes of its answer; undefined is no answer. The headers go to that
 * address alone: redirects are not followed. Rejects with a `ForgeError`, or `forge-in-clear`.
 */
export async function exchange<T>(
  { base, headers, hint, hide }: Host,
  sent: Sent,
  body: string | undefined,
  read: (text: string) => T | undefined,
  clock: Clock,
): Promise<T> {
  assertPrivate(base);
  const send = async (): Promise<T> => {
    const lost = (cause: unknown): never => {
      throw unanswered(sent, new URL(base).hostname, cause);
    };
    const response = await fetch(`${base}${sent.path}`, {
      method: sent.method,
      redirect: "manual",
      signal: AbortSignal.timeout(patience),
      headers,
      ...defined({ body }),
    }).catch(lost);
    const text = await response.text().catch(lost);
    if (!response.ok) throw refused(sent, response, parsed(text) ?? null, { hint, now: clock.now(), hide });
    const answer = read(text);
    return answer === undefined ? lost(new Error("the answer cannot be read")) : answer;
  };
  return repeatRequest(send, { ...tries, passing: passesAgain }, clock);
}

/** Throws `forge-in-clear` if a token would be sent unencrypted over a network. */
function assertPrivate(base: string): void {
  const { protocol, hostname } = new URL(base);
  if (protocol === "https:" || ["127.0.0.1", "[::1]", "localhost"].includes(hostname)) return;
  throw new GraphformError("forge-in-clear", `a token would be sent in clear text to ${hostname}`, {
    hint: "use an address that begins with https://",
  });
}

/** An answer that the caller can do nothing with: what is there stays unknown, and nothing may be made on the strength of it. */
export function unreadable(path: string): ForgeError {
  return new ForgeError("refused", "forge-refused", `GET ${path}: the answer is not what the API promises`, {
    hint: "check the address of the API",
  });
}

/** All entries of a list, page after page. `path` has a query. */
export async function allPages(api: Api, path: string): Promise<readonly JsonObject[]> {
  const all: JsonObject[] = [];
  for (let page = 1; page <= mostPages; page += 1) {
    const answer = await api({ method: "GET", path: `${path}&per_page=${pageSize}&page=${page}` });
    if (!Array.isArray(answer)) throw unreadable(path);
    const entries = answer.filter(isObject);
    all.push(...entries);
    if (entries.length < pageSize) return all;
  }
  return all;
}

/** Undefined for a text that is no JSON. */
function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
