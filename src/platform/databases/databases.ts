import type { InstanceRecord, NodeRecord } from "../model/records.ts";
import type { RefusedUser } from "./database-users.ts";

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
  /**
   * Brings a database up with the record's parameters and users, or back where some of it does not run; `snapshot` is a file to boot
   * from at the first start. Rejects also where it serves, and a replica cannot be brought up.
   */
  start(record: InstanceRecord, snapshot?: string): Promise<RunningDatabase>;
  /** Rejects where the data cannot be saved; it runs on then. */
  stop(record: InstanceRecord): Promise<void>;
  restart(record: InstanceRecord): Promise<RunningDatabase>;
  /** Puts changed parameters in force, with a restart where they need one. */
  update(record: InstanceRecord): Promise<RunningDatabase>;
  /** Ends the processes and removes the files. */
  remove(record: InstanceRecord): Promise<void>;
  /** Makes another node primary where the failed one is, also where it does not answer, and treats the failed one as told. */
  failover(record: InstanceRecord, failedNode: string, action: string): Promise<RunningDatabase>;
  /** Writes the data to a file. */
  backup(record: InstanceRecord, file: string): Promise<void>;
  /** Where a database that was brought up can be reached, as far as its processes run. */
  seen(instanceId: string): RunningDatabase | undefined;
  /** True while its primary runs, and it is not being ended. */
  serves(instanceId: string): boolean;
  /** True where all of it runs as the record says. */
  isUp(record: InstanceRecord): Promise<boolean>;
  /** True where the record's users, and no others, are in force, or nothing runs. */
  hasUsers(record: InstanceRecord): boolean;
  /** Puts the record's users in force, and no others; resolves with those that the database refuses. */
  applyUsers(record: InstanceRecord): Promise<readonly RefusedUser[]>;
  /** Resolves where the engine takes these rules for a user, whatever runs; rejects with EngineError `engine-refused`. */
  checkRules(rules: string): Promise<void>;
  /** Lets go of every database; those whose data were removed under them are ended. */
  abandon(): Promise<void>;
  /** Stops every database; the data stays. */
  close(): Promise<void>;
}

/** What the databases report by themselves. */
export interface DatabaseListener {
  /** A database that should run does not: some of it ended, is halted or does not answer. */
  down(instanceId: string, reason: string): void;
  /** Something out of the ordinary, for people. */
  notice(instanceId: string, what: string): void;
}
