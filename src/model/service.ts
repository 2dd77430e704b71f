/** @module Defines calls to a service and their answers. */
import type { Json, JsonObject } from "./json.ts";
import type { Hide } from "./known-secrets.ts";
import type { Profile } from "./profile.ts";

/** One request in our words; the profile knows its path, spelling and host. */
export interface Call {
  /** For example `instance.describe`. */
  readonly operation: string;
  readonly params: { readonly [name: string]: string };
  readonly body?: JsonObject;
}

/** The answer: its body, and the values that the profile's `answer` names. */
export interface Answer {
  readonly body: Json;
  readonly values: { readonly [name: string]: Json };
}

/** The reading half of the service. Planning is handed this and nothing more, so it cannot write. */
export interface Reads {
  readonly profile: Profile;
  /** Hides the secrets of the run in the words of others: those of the service, of its databases, of exceptions. */
  readonly hide: Hide;
  /** PEM file of an authority to trust besides the system's. */
  readonly caFile?: string;
  /** Longest time that a run waits for an answer, and for a resource, in ms. Left out: as the client and the profile have it. */
  readonly patience?: number;
  offers(operation: string): boolean;
  /** Sends a GET; safe faults are retried. Rejects with ServiceError. */
  read(call: Call, signal: AbortSignal): Promise<Answer>;
  /** The service's clock, in ms since 1970: the newest `Date` of the host that serves this operation. Undefined if there is none yet. */
  date(operation: string): number | undefined;
}

/** Reading and writing. A write is never repeated if it may have worked. */
export interface Service extends Reads {
  /**
   * Sends a write; rejects as `aborted`, not sent, if `unsent` is aborted before it has left. `signal`, aborted no earlier, lets go of it in
   * flight as well. `look` is awaited just before it is sent, and may abort `unsent`.
   */
  write(call: Call, signal: AbortSignal, unsent?: AbortSignal, look?: () => Promise<void>): Promise<Answer>;
}

/** True for `localhost`, `[::1]` and 127.0.0.0/8. The host of a parsed URL: numbers in any notation are four decimal ones there. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
