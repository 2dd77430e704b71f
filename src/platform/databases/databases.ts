/** @module Defines the operations that the control plane needs on databases. */
import type { RefusedUser } from "../engine/index.ts";
import type { InstanceRecord, NodeRecord } from "../model/records.ts";

/** The database server, and the reason for its choice. */
export interface EngineInfo {
  readonly name: string;
  readonly version: string;
  readonly why: string;
}

export interface RunningDatabase {
  readonly host: string;
  readonly nodes: readonly NodeRecord[];
}

export interface Databases {
  readonly engine: EngineInfo;
  /**
   * Starts a database with the record's parameters and users, or restarts what does not run; `snapshot` is a file to load at the
   * first start. Also rejects if the database serves and a replica does not start.
   */
  start(record: InstanceRecord, snapshot?: string): Promise<RunningDatabase>;
  /** Rejects if the data cannot be saved; the database keeps running then. */
  stop(record: InstanceRecord): Promise<void>;
  restart(record: InstanceRecord): Promise<RunningDatabase>;
  /** Applies changed parameters, with a restart if they need one or `restarts` asks for it. */
  update(record: InstanceRecord, restarts: boolean): Promise<RunningDatabase>;
  /** Ends the processes and deletes the files. */
  remove(record: InstanceRecord): Promise<void>;
  /**
   * Promotes the other node if the failed one is primary, even if it does not answer, and then carries out the action on the
   * failed one.
   */
  failover(record: InstanceRecord, failedNode: string, action: string): Promise<RunningDatabase>;
  /** Writes a snapshot of the data to a file. */
  backup(record: InstanceRecord, file: string): Promise<void>;
  /** Host and nodes of a database that was started, by its running processes; undefined for others. */
  seen(instanceId: string): RunningDatabase | undefined;
  /** True while its primary runs and is not being stopped. */
  serves(instanceId: string): boolean;
  /** True if every node runs as the record says. */
  isUp(record: InstanceRecord): Promise<boolean>;
  /** True if the database has exactly the record's users, or does not run. */
  hasUsers(record: InstanceRecord): boolean;
  /** Applies exactly the record's users; resolves with the refused ones. */
  applyUsers(record: InstanceRecord): Promise<readonly RefusedUser[]>;
  /** Reason why the engine refuses ACL rules, or undefined; checked also while the instance's database does not run. */
  refusalOf(acl: string): Promise<string | undefined>;
  /** Gives up every database; those whose data was removed are ended. */
  abandon(): Promise<void>;
  /** Stops every database; the data stays. */
  close(): Promise<void>;
}

export interface DatabaseListener {
  /** A database does not run as it should: a node ended, is halted or does not answer. */
  down(instanceId: string, reason: string): void;
  notice(instanceId: string, what: string): void;
}
