/** @module Defines databases of one or two nodes, and the engine that starts them. */
/** The configuration of a database; all of it is applied to real processes. */
export interface DatabaseSpec {
  /** Folder of the database: its secrets, and one subfolder per node with data, log and pid file. */
  readonly dir: string;
  /** Name of the tenant's user, possibly `default`. */
  readonly user: string;
  /** Password of the tenant. Processes get its SHA-256; it is never in argv or a file. */
  readonly password: string;
  /** 2: a primary and a replica. */
  readonly nodes: 1 | 2;
  /** Certificate for TLS; the plain port is closed then. */
  readonly tls?: TlsFiles;
  readonly maxMemoryBytes?: number;
  /** Flush policy of the append-only file; absent: no append-only file. */
  readonly aof?: "everysec" | "always";
  /** Frequency of snapshots to disk; absent: only at a stop. */
  readonly rdb?: "low" | "medium" | "high";
  /** Arguments of the graph module, for example `CACHE_SIZE: 25`. */
  readonly parameters: Readonly<Record<string, number>>;
  /** Preferred ports by node index, used where they are free. */
  readonly ports?: readonly number[];
  /** Additional users. */
  readonly users?: readonly DatabaseUser[];
  /** A file written by `snapshot`, to start from. Used only while the database has no data. */
  readonly seed?: string;
}

/** A database user, with rules such as `~* +GRAPH.RO_QUERY +PING`. */
export interface DatabaseUser {
  readonly username: string;
  /** SHA-256 of the password in hex, so that the user can be applied again without the password. */
  readonly passwordHash: string;
  readonly rules: string;
}

/** PEM files of a certificate for this machine and of the authority that signed it. */
export interface TlsFiles {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** A node of a database. */
export interface DatabaseNode {
  /** `node-0` or `node-1`; it stays with the data when the role changes. */
  readonly id: string;
  readonly port: number;
  /** Process id; 0 for a node that never started. */
  readonly pid: number;
  readonly role: "primary" | "replica";
}

/** The action on the failed node: its process is restarted, or its data is removed and copied again from the primary. */
export type Renewal = "restart" | "recreate";

/** A running database. Its processes outlive this object and the platform; `stop` ends them. */
export interface Database {
  readonly host: string;
  /** Primary first. */
  nodes(): readonly DatabaseNode[];
  /** Port of the primary. */
  port(): number;
  /** Reason why a replica does not run or is not in sync, as of the last start; undefined where all are. */
  trouble(): Error | undefined;
  /** True where every node answers and has its data, and the primary takes writes. Never rejects. */
  ping(): Promise<boolean>;
  /** Nodes whose process does not run. Cheap. */
  down(): readonly DatabaseNode[];
  /** Nodes whose process is halted. Cheap. */
  halted(): readonly DatabaseNode[];
  /** Nodes that have been silent for seconds without being busy. Never rejects. */
  silent(): Promise<readonly DatabaseNode[]>;
  /** Saves the data and ends the processes. Rejects with EngineError where the data cannot be saved; the processes keep running then. */
  stop(): Promise<void>;
  /**
   * Restarts nodes that ended or do not answer, on their ports; the node that has the data becomes primary. Resolves at once where
   * all run. Rejects as `Engine.start` does.
   */
  revive(signal?: AbortSignal): Promise<void>;
  /** Changes the tenant's password without a restart. Rejects and changes nothing where it cannot. */
  setPassword(password: string): Promise<void>;
  /**
   * Creates or replaces a user on every running node. Rejects and changes nothing where it cannot, with EngineError for a rule that
   * the server refuses.
   */
  setUser(user: DatabaseUser): Promise<void>;
  /** Removes a user, if it exists, and ends its connections. */
  removeUser(username: string): Promise<void>;
  /**
   * Treats a node, by default the primary, as failed. A primary swaps roles with its replica: writes are refused for a moment and
   * none is lost; without a replica in sync it rejects with EngineError and changes nothing. A primary that does not answer is ended
   * and started again before, as by `Engine.start` with this node as `failed`. Then the action is carried out on the node.
   */
  failover(failed?: string, then?: Renewal): Promise<void>;
  /** Writes the current data to a file, completely or not at all. Rejects where the server cannot save. */
  snapshot(file: string): Promise<void>;
  /** Calls `listener` for every process that ended unexpectedly, also for those that already have. */
  onExit(listener: (node: DatabaseNode) => void): void;
}

export interface StartOptions {
  /**
   * Id of a failed node. Where the database cannot be started with it, another node becomes primary with the data that it has, even
   * if the failed one took writes without it; what the failed one had is kept as `data.aside`.
   */
  readonly failed?: string;
  /** Receives unusual events, as texts for people. */
  readonly notify?: (what: string) => void;
}

/** A database server together with the graph module. */
export interface Engine {
  /** `valkey` or `redis`. */
  readonly name: string;
  readonly version: string;
  /** Reason for its choice, for people. */
  readonly why: string;
  /**
   * Resolves when the database serves and its replica is in sync, or `trouble` has the reason why it is not. Takes over processes of
   * an earlier platform that run as the spec says and ends all others. A database that had data never starts without it. Rejects
   * with EngineError and the server's own message, or with the signal's reason.
   */
  start(spec: DatabaseSpec, signal?: AbortSignal, options?: StartOptions): Promise<Database>;
  /** True where a server runs over this folder. */
  isRunning(dir: string): Promise<boolean>;
  /** Ends every server of the folder whose data was removed. */
  endOrphans(dir: string): Promise<void>;
  /** Ends every server of the folder and removes the folder; resolves also where there is none. */
  destroy(dir: string): Promise<void>;
}
