/** @module Makes typed errors from refusals of the service. */

import { runInNewContext } from "node:vm";
import { ServiceError, type ServiceFailure } from "../../model/errors.ts";
import { defined, isObject, type Json } from "../../model/json.ts";
import type { Hide } from "../../model/known-secrets.ts";
import type { Profile } from "../../model/service.ts";
import { retryAfterIn } from "../../network/send-request.ts";
import { parseJson, safeText } from "./parse-json.ts";
import type { WireRequest, WireResponse } from "./transport.ts";

/** Longest Retry-After that is honoured, in ms. */
const longestPause = 10 * 60_000;

/**
 * Returns the error of an answer other than 2xx, whatever its body is: the JSON of either host, HTML, or nothing.
 *
 * A request that ended in a server error (5xx) may have worked: `lost` for a write, `unavailable` for a read. A refusal
 * says that the request did nothing; a create is still verified by a list. `now` is in ms since 1970, for a Retry-After that is
 * a date; `hide` hides the secrets of the run.
 */
export function serviceError(
  response: WireResponse,
  request: Pick<WireRequest, "operation" | "isWrite">,
  profile: Profile,
  now: number,
  hide: Hide = (text) => text,
): ServiceError {
  const { operation, isWrite } = request;
  const { status } = response;
  const parsed = parseJson(response.body);
  const body = isObject(parsed) ? parsed : {};
  const said = messageOf(body);
  const failure = failureOf(status, said ?? "", body, isWrite, profile);
  const pause = retryAfterIn(response.headers, now);
  const retryAfter = pause === undefined ? undefined : Math.min(pause, longestPause);
  const message = said === undefined ? plainWords(status) : safeText(said, hide);
  const hint = failure === "not-found" ? wrongPath(operation, profile) : hints[failure];
  return new ServiceError(failure, operation, `${operation}: ${message} (${status})`, {
    status,
    mayHaveWorked: isWrite && (failure === "lost" || failure === "shape"),
    ...defined({ retryAfter, hint }),
  });
}

const hints: { readonly [failure in ServiceFailure]?: string } = {
  unauthorized: "sign in again, or give a token that the service accepts",
  forbidden: "the user's role or plan does not allow it; ask the owner of the subscription",
  shape: "check the address of the service: redirects are not followed",
};

/** A hint for a path that names no single object: every service of the profile has it. */
function wrongPath(operation: string, { name, operations }: Profile): string | undefined {
  const { path } = operations[operation] ?? {};
  if (path === undefined || /\{(?:id|\w*Id)\}/.test(path)) return undefined;
  return `this may be another service than the profile ${name} describes: check service.profile, --profile and the address`;
}

/** Length of a message that patterns are matched against, in characters. */
const longestRead = 500;

const byStatus: { readonly [status: number]: ServiceFailure } = {
  401: "unauthorized",
  403: "forbidden",
  404: "not-found",
  409: "conflict",
  410: "not-found",
  429: "rate-limited",
};

function failureOf(
  status: number,
  said: string,
  body: { readonly [key: string]: Json },
  isWrite: boolean,
  profile: Profile,
): ServiceFailure {
  if (said.toLowerCase().includes(profile.busy.toLowerCase())) return "busy";
  // A pattern of the profile can be slow on a long text.
  const start = said.slice(0, longestRead);
  if (status === 400 && new RegExp(profile.session.missingToken, "i").test(start)) return "unauthorized";
  const known = byStatus[status];
  if (known !== undefined) return known;
  if (status >= 500 || status === 408) return isWrite ? "lost" : "unavailable";
  if (status < 400) return "shape";
  const isPassing = body["temporary"] === true || body["timeout"] === true;
  return isPassing && !isWrite ? "unavailable" : "invalid";
}

/** The message of an answer: under its usual keys, otherwise the longest text in it. */
function messageOf(body: { readonly [key: string]: Json }): string | undefined {
  const said = ["message", "error", "name"].map((key) => body[key]);
  const found = said.find((value) => typeof value === "string" && value.trim() !== "");
  const [longest] = textsOf(body).toSorted((a, b) => b.length - a.length);
  return typeof found === "string" ? found.trim() : longest;
}

function textsOf(value: Json): readonly string[] {
  if (typeof value === "string") return value.trim() === "" ? [] : [value.trim()];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return isObject(value) ? Object.values(value).flatMap(textsOf) : [];
}

function plainWords(status: number): string {
  if (status < 400) return "the service redirects, and redirects are not followed";
  return `the service ${status >= 500 ? "failed" : "refused"} and does not say why`;
}

/** Result of a match; `unread` if the pattern is invalid, or takes too long. */
type PatternMatch = "matches" | "differs" | "unread";

/** The time that one pattern gets for one value, in ms, and the length of a pattern that is tried at all. */
const [longestTry, longestPattern] = [100, 2000];

/** A pattern that took too long is not tried again in a run, so that the number of patterns bounds the time. */
export function boundedMatcher(): (pattern: string, value: string) => PatternMatch {
  const unread = new Set<string>();
  return (source, value) => {
    if (unread.has(source)) return "unread";
    try {
      if (source.length > longestPattern) throw new Error("too long");
      const pattern = new RegExp(source);
      // A timeout can stop only code in its own context.
      const sandbox = { pattern, value };
      const isMatch: unknown = runInNewContext("pattern.test(value)", sandbox, { timeout: longestTry });
      return isMatch === true ? "matches" : "differs";
    } catch {
      unread.add(source);
      return "unread";
    }
  };
}
