/** @module Defines the options of a client and the client itself. */
import type { Clock } from "../model/clock.ts";
import type { KnownSecrets } from "../model/known-secrets.ts";
import type { Service } from "../model/service.ts";
import type { ServicePlace } from "./identify-service.ts";
import type { SessionStore } from "./session/session.ts";
import type { Throttle } from "./throttle/throttle.ts";
import type { Transport } from "./wire/transport.ts";

export interface ServiceOptions extends Omit<ServicePlace, "localId"> {
  /** Without them only a kept session can be used. */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** Bearer token of the users host; without it the session's own. */
  readonly usersToken?: () => Promise<string>;
  readonly sessionStore?: SessionStore;
  /** PEM file of an authority to trust besides the system's. */
  readonly caFile?: string;
  /** Requests in flight at most; if the profile limits them to fewer, those. */
  readonly parallelism?: number;
  /** Longest time that a call may take, its turn, its sign-in and its repetitions included, in ms. */
  readonly patience?: number;
  readonly clock: Clock;
  /** Used in place of an own throttle if several clients share one. */
  readonly throttle?: Throttle;
  readonly transport?: Transport;
  /** The User-Agent header: `graphform/1.2.3`. */
  readonly userAgent?: string;
  /** One line per request: method, path, status, ms; no header and no body. */
  readonly trace?: (line: string) => void;
  /** The secrets of the run: the service's words are searched for them. Those of the session, and those that answers show, are added. */
  readonly secrets?: KnownSecrets;
  /** The names of secret fields on the wire: what stands behind one in an answer is a secret. */
  readonly secretNames?: readonly string[];
}

/** A service whose session and connections the caller controls. */
export type Client = Service & {
  /** The subscription of every tier that has one, given or looked up. Rejects if a needed tier has several. */
  subscriptions(needed: readonly string[], signal: AbortSignal): Promise<{ readonly [tier: string]: string }>;
  /** All subscriptions that the account can see; empty if the service lists none, or only a part. */
  accountSubscriptions(signal: AbortSignal): Promise<readonly string[]>;
  /** Signs in now rather than with the first request. Gives the end of a session that cannot be renewed, in ms since 1970. */
  signIn(): Promise<number | undefined>;
  /** Ends the session at the service, if the profile can, and here; false if it had ended by itself. */
  signOut(): Promise<boolean>;
  close(): Promise<void>;
};
