/** @module Parses the address of a state store and refuses those that would expose the state. */
import { GraphformError } from "../../../model/errors.ts";
import { type Refusal, urlRefusal } from "../../../model/store-url.ts";

/**
 * Throws `url-invalid` for anything but an http or https URL without user and password, and `url-in-clear` for http to
 * another machine. `setting` is named in messages.
 */
export function checkedUrl(text: string, setting: string): URL {
  assertNone(urlRefusal(text, setting));
  return new URL(text);
}

/** Throws a refusal. */
export function assertNone(refusal: Refusal | undefined): void {
  if (refusal !== undefined) throw new GraphformError(refusal.code, refusal.message, { hint: refusal.hint });
}
