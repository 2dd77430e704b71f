/** @module Defines the options that locate manifest, state and service of a run. */

/** Locations for a run. An absent value comes from the environment, the manifest, or last the local platform. */
export interface RunOptions {
  /** Manifest files or folders; empty means `graphform.yaml`. */
  readonly file: readonly string[];
  /** Variables as `name=value`; they override those of files. */
  readonly var: readonly string[];
  readonly varFile: readonly string[];
  /** Path of the state file. */
  readonly state?: string;
  /** A built-in profile's name, or a file. */
  readonly profile?: string;
  readonly platformUrl?: string;
  readonly usersUrl?: string;
  /** Id of the subscription that owns the instances. */
  readonly subscription?: string;
  /** Largest number of requests in flight. */
  readonly parallelism?: number;
  /** Longest wait for an answer, and for a resource, in ms. */
  readonly timeout?: number;
}
