import type { RefusedUser } from "./database-users.ts";
import type { InstanceRecord, NodeRecord } from "./records.ts";

/** Which database server was chosen, and why. */
export interface EngineInfo {
  readonly name: string;
  readonly version: string;
  readonly why: string;
}

/** Where a database can be reached. */
export interface RunningDatabase {
  readonly host: string;
  readonly nodes: readonly NodeRecord[];
}

/** The databases of all instances. What the control plane wants of them, and nothing about processes. */
export interface Databases {
  readonly engine: EngineInfo;
  /** Brings a database up with the record's parameters and users; `snapshot` is a file to boot from at the first start. */
  start(record: InstanceRecord, snapshot?: string): Promise<RunningDatabase>;
  stop(record: InstanceRecord): Promise<void>;
  restart(record: InstanceRecord): Promise<RunningDatabase>;
  /** Puts changed parameters in force, with a restart where they need one. */
  update(record: InstanceRecord): Promise<RunningDatabase>;
  /** Ends the processes and removes the files. */
  remove(record: InstanceRecord): Promise<void>;
  /** Makes another node primary and treats the failed one as told. */
  failover(record: InstanceRecord, failedNode: string, action: string): Promise<RunningDatabase>;
  /** Writes the data to a file. */
  backup(record: InstanceRecord, file: string): Promise<void>;
  /** True while the database runs and is neither being ended nor being brought back. */
  serves(instanceId: string): boolean;
  /** True where the record's users, and no others, are in force, or nothing runs. */
  hasUsers(record: InstanceRecord): boolean;
  /** Puts the record's users in force, and no others; resolves with those that the database refuses. */
  applyUsers(record: InstanceRecord): Promise<readonly RefusedUser[]>;
  /** Resolves where the engine takes these rules for a user, whatever runs; rejects with EngineError `engine-refused`. */
  proveRules(rules: string): Promise<void>;
  /** Stops every database; the data stays. */
  close(): Promise<void>;
}

/** What the databases report by themselves. */
export interface DatabaseListener {
  /** A database ended that should run; it is being restarted. */
  down(instanceId: string, reason: string): void;
  /** It serves again. */
  up(instanceId: string, database: RunningDatabase): void;
  /** It cannot be restarted. */
  lost(instanceId: string, reason: string): void;
}
