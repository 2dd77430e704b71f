/** @module Defines what a store of states and its lock must do, and a store that outlives the process: its state can be moved and repaired. */
import type { Clock } from "../model/clock.ts";
import type { GraphformError } from "../model/errors.ts";
import type { Hide } from "../model/known-secrets.ts";
import type { StateDocument } from "../model/state.ts";
import type { StateEvent } from "../model/state-event.ts";

/** The holder of a lock, as its record names it. Times are ISO 8601. */
export interface Holder {
  readonly id: string;
  /** `user@host`. */
  readonly who: string;
  readonly pid: number;
  readonly host: string;
  /** The command: `apply`. */
  readonly operation: string;
  readonly created: string;
  readonly heartbeat: string;
  /** The time from which another host may take the lock over, unless a heartbeat comes first. */
  readonly expires: string;
}

export interface LockOptions {
  readonly clock: Clock;
  /** Longest wait for another holder, in ms; 0, the default, does not wait. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  /** Aborted by the second Ctrl-C: what is not stored yet goes to a local file at once, and the store gets 5 s more. */
  readonly hurrying?: AbortSignal;
  /** Time after the last heartbeat at which other hosts take the lock over, in ms. Default 60 s. */
  readonly lease?: number;
  /** True for `state push` alone: a lock for anything else is refused while a local file has what could not be stored. */
  readonly isPush?: boolean;
  /** Told if the lock could not be given back. */
  readonly warn?: (message: string) => void;
  /** Hides the secrets of the run in what another holder wrote. */
  readonly hide?: Hide;
}

/** A local file with events that an earlier run could not store, and no later one has stored. */
export interface Unpushed {
  readonly file: string;
  /** The refusal of the lock: `state-unpushed`. */
  readonly refusal: GraphformError;
  /** The state as `state push` would store it; undefined if it would refuse. */
  readonly state?: StateDocument | undefined;
}

export interface Lock {
  readonly id: string;
  /** Aborted, with `lock-lost`, when the lock is found to be ours no longer: start nothing new after that. */
  readonly lost: AbortSignal;
  /** Looks at once whether it is still ours; aborts `lost` if not. */
  check(): Promise<void>;
  /** Undefined while the last proof that it is ours is fresh. Otherwise, for example after a stop of the process, a new proof, which aborts `lost` if it fails. */
  look(): Promise<void> | undefined;
  /** Ends the work under the lock: rejects with the reason of `lost`, and says what became of events that could not be stored. */
  finish(): Promise<void>;
  /** Gives it back; harmless when repeated, and when the lock was lost. */
  release(): Promise<void>;
}

/** A version of a state, given as the event that makes it from the previous one. */
export interface EventVersion extends Pick<StateDocument, "lineage" | "serial" | "savedAt"> {
  readonly event: StateEvent;
}

export type JournalStore = Pick<StateStore, "write" | "append" | "spool">;

export interface StateStore {
  /** For people: the path or address. */
  readonly where: string;
  /** The stored state, or undefined if there is none. Throws `state-*` for a document that is not to be trusted. */
  read(): Promise<StateDocument | undefined>;
  /** Stores the next version whole and resolves once it is durable. Throws `state-conflict` as `append` does. */
  write(next: StateDocument): Promise<void>;
  /**
   * Stores the next version as an event after the one that this store wrote before, and resolves once it is durable. Versions that
   * arrive while one is being stored go into the next write together. Throws `state-conflict` if the version before is not stored.
   */
  append(next: EventVersion): Promise<void>;
  /** Holds an event that could not be stored until `finish` of the lock: it is stored then, or goes to a local file. Without it steps fail. */
  readonly spool?: (event: StateEvent) => void;
  /** The first local file with something that the stored state does not have; a store without it keeps nothing in local files. */
  readonly unpushed?: () => Promise<Unpushed | undefined>;
  /** Takes the lock for an operation, or throws `locked` (exit 5) or `state-unpushed`. Giving it back leaves the whole document stored. */
  lock(operation: string, options: LockOptions): Promise<Lock>;
  holder(): Promise<Holder | undefined>;
  /** Removes the lock of this id and returns its holder. Throws `lock-unknown`, and without `force` `lock-alive` for a living holder. */
  unlock(id: string, options?: { readonly force?: boolean }): Promise<Holder>;
}

/** A stored document, byte for byte, and the version that the protocol compares: an ETag, a serial, a row version. */
export interface Stored {
  readonly text: string;
  readonly version: string;
}

/** A version that the store still has. Times are ISO 8601. */
export interface StoredVersion {
  /** Names it to `readVersion`. */
  readonly id: string;
  readonly serial: number;
  readonly savedAt: string;
}

/** A store that outlives the process. All methods throw `state-*`. */
export interface DurableStore extends StateStore {
  /** The stored document as text, whole, with what the store compares; undefined if there is none. Not checked. */
  readText(): Promise<Stored | undefined>;
  /** Puts a text in place of exactly this version (undefined: of none), under the lock of this store. Throws `state-conflict`. */
  replaceText(text: string, expected: string | undefined): Promise<void>;
  /** Versions that the store still has besides the current one, newest first; undefined if it keeps none. */
  history(): Promise<readonly StoredVersion[] | undefined>;
  /** The document of an earlier version as text. */
  readVersion(id: string): Promise<string>;
  /** Creates the tables or folders of the store and tests it. Creates no state. */
  prepare(): Promise<void>;
  /** Tests the store, and leaves nothing there. */
  probe(): Promise<void>;
  close(): Promise<void>;
}
