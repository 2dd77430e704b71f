import { ServiceError, type ServiceFailure } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Profile } from "../model/profile.ts";
import type { WireResponse } from "./transport.ts";

/** How much of a service's message is passed on, in characters. */
const longest = 500;

/**
 * The typed error behind a refusal (specification 7), also where the body is not what the specification says.
 * `isWrite` decides what a failure of the server means: a write may have worked, a read may be sent again.
 */
export function refusal(
  operation: string,
  response: WireResponse,
  body: Json | undefined,
  isWrite: boolean,
  profile: Profile,
  now: number,
): ServiceError {
  const message = messageOf(body) ?? plainWords(response.status);
  const isBusy = matches(profile.busy, message);
  const failure = failureOf(response.status, message, isBusy, isWrite, profile);
  const retryAfter = retryAfterOf(response, now);
  return new ServiceError(failure, operation, `${operation}: ${message} (${response.status})`, {
    status: response.status,
    mayHaveWorked: isWrite && failure === "lost",
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}

function failureOf(status: number, message: string, isBusy: boolean, isWrite: boolean, profile: Profile): ServiceFailure {
  if (isBusy) return "busy";
  if (status === 401 || (status === 400 && matches(profile.session.missingToken, message))) return "unauthorized";
  if (status === 403) return "forbidden";
  if (status === 404 || status === 410) return "not-found";
  if (status === 409) return "conflict";
  if (status === 429) return "rate-limited";
  if (status >= 500 || status === 408) return isWrite ? "lost" : "unavailable";
  return status >= 300 && status < 400 ? "shape" : "invalid";
}

/** When to come back, in ms from `now`: seconds, or a date. */
export function retryAfterOf(response: WireResponse, now: number): number | undefined {
  const header = response.headers["retry-after"];
  const text = typeof header === "string" ? header : header?.[0];
  if (text === undefined) return undefined;
  const seconds = Number(text);
  const ms = Number.isNaN(seconds) ? Date.parse(text) - now : seconds * 1000;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), 10 * 60_000);
}

function matches(pattern: string, message: string): boolean {
  return pattern !== "" && new RegExp(pattern, "i").test(message);
}

function messageOf(body: Json | undefined): string | undefined {
  if (!isObject(body)) return undefined;
  const { message, error, name } = body;
  const text = [message, error, name].find((value) => typeof value === "string" && value !== "");
  return typeof text === "string" ? text.slice(0, longest) : undefined;
}

function plainWords(status: number): string {
  if (status >= 300 && status < 400) return "the service redirects, and redirects are not followed";
  return status >= 500 ? "the service failed" : "the service refused";
}
