/** @module Defines the keys that requests to AWS and its like are signed with. */

/** A pair of keys, of a session where there is a token. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** The end of the session, in ms since 1970; undefined where it has none, or none that is known. */
  readonly expires?: number;
}

/** Gives the keys for a request. `fresh`: those before were refused as expired. Rejects with `state-denied`. */
export type AwsCredentials = (fresh?: boolean) => Promise<AwsKeys>;
