/** @module Words the three ways in which a state store fails: unreachable, denied, unsuitable. */
import { GraphformError } from "../../model/errors.ts";
import { urlRefusal } from "../../model/stores/http.ts";
import type { ValueRefusal } from "../../model/stores/store-description.ts";
import { retryAfterIn } from "../../network/send-request.ts";

/** The error of a request without an answer, or with an inconclusive one: it may have had its effect. `where` has no query and no credential. */
export function unreachable(
  where: string,
  why: string,
  hint = "check the address, and whether the store runs; nothing is lost by running the command again",
): GraphformError {
  return new GraphformError("state-unreachable", `the state store ${where} ${why}`, { hint });
}

/** A store that asks to be left alone for a time, in ms, before the next request. Nothing happened. */
export class StoreBusyError extends GraphformError {
  readonly retryAfter: number;

  constructor(where: string, why: string, retryAfter: number) {
    const asked = `${Math.ceil(retryAfter / 1000)} s`;
    super(
      "state-unreachable",
      `the state store ${where} ${why}, and asks to wait for ${asked} before the next request`,
      { hint: `the store runs and refuses for now; wait for ${asked}, then run the command again` },
    );
    this.name = "StoreBusyError";
    this.retryAfter = retryAfter;
  }
}

/** An answer that settles nothing; its `Retry-After`, in seconds or as a date by the clock of the store, is kept. */
export function busyOr(
  where: string,
  why: string,
  headers: { readonly [name: string]: string },
  hint?: string,
): GraphformError {
  const wait = retryAfterIn(headers, Date.parse(headers["date"] ?? "")) ?? 0;
  return wait > 0 ? new StoreBusyError(where, why, wait) : unreachable(where, why, hint);
}

/** The credentials or their rights were refused; nothing happened. */
export function denied(where: string, why: string, hint: string): GraphformError {
  return new GraphformError("state-denied", `the state store ${where} ${why}`, { hint });
}

/** The store cannot keep a state safely, or is not a store. */
export function unsuitable(
  where: string,
  why: string,
  hint = "check the address of the state, and what answers there",
): GraphformError {
  return new GraphformError("state-unsuitable", `the state store ${where} ${why}`, { hint });
}

/** Throws `url-invalid` and `url-in-clear` as `urlRefusal` says. `setting` is named in messages. */
export function checkedUrl(text: string, setting: string): URL {
  assertNone(urlRefusal(text, setting));
  return new URL(text);
}

export function assertNone(refusal: ValueRefusal | undefined): void {
  if (refusal !== undefined) throw new GraphformError(refusal.code, refusal.message, { hint: refusal.hint });
}
