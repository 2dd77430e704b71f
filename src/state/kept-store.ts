/** @module Defines a store that outlives the process: its state can be moved and repaired, and earlier versions read. */
import type { KeptVersion, Stored } from "./remote/driver.ts";
import type { StateStore } from "./store.ts";

/** A store that outlives the process. All methods throw `state-*`. */
export interface KeptStore extends StateStore {
  /** The stored document as text, whole, with what the store compares; undefined where there is none. Not checked. */
  readText(): Promise<Stored | undefined>;
  /**
   * Puts a text in place of exactly this version (undefined: of none), whatever serials the two have. Only under the lock
   * that this store holds. Throws `state-conflict` where another version is stored.
   */
  replaceText(text: string, expected: string | undefined): Promise<void>;
  /** Versions that the store still has besides the current one, newest first; undefined where it keeps none. */
  history(): Promise<readonly KeptVersion[] | undefined>;
  /** The document of a kept version as text. */
  readVersion(id: string): Promise<string>;
  /** Makes what the store needs, and tries what it must be able to do. Makes no state. */
  prepare(): Promise<void>;
  /** Tries what the store must be able to do, and leaves nothing there. */
  probe(): Promise<void>;
  /** Ends connections. */
  close(): Promise<void>;
}
