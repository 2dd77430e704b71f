import type { InstanceRecord, NodeRecord, UserRecord } from "./records.ts";

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
  setUser(record: InstanceRecord, user: UserRecord): Promise<void>;
  removeUser(record: InstanceRecord, username: string): Promise<void>;
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
