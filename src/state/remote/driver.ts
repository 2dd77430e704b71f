/** @module Defines what a protocol must do so that a state can be kept behind it: conditional writes, a lease, earlier versions. */
import type { GetVariable } from "../../model/stores/store-description.ts";
import type { Holder, Stored, StoredVersion } from "../store.ts";

interface DriverOptions {
  readonly variable: GetVariable;
  readonly environment: () => { readonly [name: string]: string | undefined };
  /** True for the other end of a move, which may need credentials of its own. */
  readonly isOtherEnd: boolean;
  /** PEM text of authorities to trust besides the system's. */
  readonly ca?: string;
}

/** Opens the driver of a location with the credentials of the environment. Sends nothing. Throws `state-credentials`. */
export type OpenDriver<Location> = (location: Location, options: DriverOptions) => StateDriver;

/** The end of a conditional write. `stale`: another version is stored than the expected one; nothing was changed. */
export type Written = { readonly is: "written"; readonly version: string } | { readonly is: "stale" };

/** A lock that is held: the holder as it is stored, and what the protocol needs to renew, use and release it. */
export interface Lease {
  readonly holder: Holder;
  /** Opaque to all but the driver: a lock id, an ETag, a fence. */
  readonly token: string;
}

/** The end of an attempt to take the lock. */
export type Taken =
  | {
      readonly is: "taken";
      readonly lease: Lease;
      /** The holder before, if its lease had run out: its writes must not count any more. */
      readonly over?: Holder;
    }
  | {
      readonly is: "held";
      readonly by: Holder;
      /** Ms since the holder was last seen, by the clock of the store; undefined if it has none. */
      readonly age?: number;
    };

/** The end of a renewal. `lost`: it has another holder now, or none. */
export type Renewed =
  | { readonly is: "renewed"; readonly lease: Lease }
  | { readonly is: "lost"; readonly to?: Holder };

/**
 * One state behind one protocol (`docs/stores.md`). A driver translates; retries, reading back after a lost answer, heartbeats,
 * the rule when to stop, and messages about holders are those of `createRemoteStore`. Every method makes as few requests as it
 * can, waits for an answer at most its own request timeout, and rejects with a GraphformError:
 *
 * - `state-unreachable`: no answer, a cut answer, a 5xx or 429. The request may have had its effect.
 * - `state-denied`: the credentials or their rights were refused. The request had no effect.
 * - `state-unsuitable`: the store cannot keep a state safely, or is not one.
 *
 * No message, hint or cause contains a credential.
 */
export interface StateDriver {
  /** For people: an address without credentials. */
  readonly where: string;
  /** True if a lock ends by itself when its holder does not renew it; false if a person must remove it by its id. */
  readonly expires: boolean;
  read(): Promise<Stored | undefined>;
  /**
   * Stores a document in place of the expected version (undefined: of none), under a lease that is held. `stale` also if the
   * lease is not ours any more. It may be called while a renewal of the same lease is under way.
   */
  write(text: string, expected: string | undefined, lease: Lease): Promise<Written>;
  /**
   * Takes the lock if it is free, or if its lease has run out by the store's clock. `holder` has the id of the
   * lock; its `expires` is one lease after its `heartbeat`. A lock that stands under this very id is ours: `taken`, for the
   * answer to the first attempt may have been lost.
   */
  take(holder: Holder): Promise<Taken>;
  /**
   * Stores a fresh heartbeat. If locks do not expire it only looks whether the lock is still ours. `lost` only if the lock
   * has another id now, or is gone: a renewal whose answer was lost may have changed its token, and it is still ours.
   */
  renew(lease: Lease, holder: Holder): Promise<Renewed>;
  /** Gives the lock back. If it is not ours any more it resolves, or rejects with `lock-unknown` if the store does not tell which. */
  release(lease: Lease): Promise<void>;
  /** The holder of the lock; undefined if it is free, or its lease has run out. */
  holder(): Promise<Holder | undefined>;
  /** Removes the lock of exactly this id, whoever holds it; false if the lock has another id, or there is none. */
  remove(id: string): Promise<boolean>;
  /** Creates what the store needs (a schema, tables) and tests it; rejects with `state-unsuitable`. */
  prepare(): Promise<void>;
  /** The same without leaving anything; for `doctor` and the first use. */
  probe(): Promise<void>;
  /** Versions that the store still has, newest first, at most `limit`; undefined if it keeps none. May have the stored document. */
  history(limit?: number): Promise<readonly StoredVersion[] | undefined>;
  readVersion(id: string): Promise<string>;
  close(): Promise<void>;
}
