/** @module Sends commands over one connection that stays open: many at once, values as bytes, each with a time limit. */

export type Command = readonly (string | Buffer)[];

/** A reply; bytes instead of texts if they were asked for. */
export type Reply = string | number | Buffer | null | readonly Reply[] | Error;

export interface AskOptions {
  /** Texts of the replies as bytes. */
  readonly binary?: boolean;
  /** Longest time for all replies in ms. Default: no limit but the signal. */
  readonly within?: number;
}

/** One signed-in connection. It is never opened again: what a new one would find may be another server. */
export interface Link {
  /** Its id in CLIENT LIST. */
  readonly id: number;
  /** Replies in order; a refused command is an Error among them. Rejects with a DatabaseError if the connection breaks or the time is over. */
  all(commands: readonly Command[], options?: AskOptions): Promise<readonly Reply[]>;
  /** One reply. Rejects with the Error of a refused command, too. */
  one(command: Command, options?: AskOptions): Promise<Reply>;
  close(): void;
}
