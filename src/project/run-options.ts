/** @module Says where the manifest, the state and the service of a run are, as its caller names them. */

/** Where everything of a run is. What is absent comes from the environment, the manifest, and at last the local platform. */
export interface RunOptions {
  /** Manifest files or folders; `graphform.yaml` where there are none. */
  readonly file: readonly string[];
  /** Variables as `name=value`; these win over files. */
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
  /** Requests in flight. */
  readonly parallelism?: number;
}
