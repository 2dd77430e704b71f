/** How one database is to run; all of it is really applied to the processes. */
export interface DatabaseSpec {
  /** Folder that this database owns: its secrets, and one subfolder per node with data, log and pid file. */
  readonly dir: string;
  /** Name of the tenant's user; may be `default`. */
  readonly user: string;
  /** Never in argv and never in a file: the processes are told its SHA-256. */
  readonly password: string;
  /** 2: a primary and a replica. */
  readonly nodes: 1 | 2;
  /** Served over TLS with this authority's certificate; the plain port is closed. */
  readonly tls?: TlsFiles;
  readonly maxMemoryBytes?: number;
  /** How often the append-only file is flushed; absent: no append-only file. */
  readonly aof?: "everysec" | "always";
  /** How often a snapshot is written; absent: only when the database is stopped. */
  readonly rdb?: "low" | "medium" | "high";
  /** Arguments of the graph module, for example `CACHE_SIZE: 25`. */
  readonly parameters: Readonly<Record<string, number>>;
  /** Ports to be taken again where they are free, one per node in the order of the ids. */
  readonly ports?: readonly number[];
  /** Users besides the tenant. */
  readonly users?: readonly DatabaseUser[];
  /** A file that `snapshot` wrote, to start from. Read only while the database has no data of its own. */
  readonly seed?: string;
}

/** A database user; `rules` as in `~* +GRAPH.RO_QUERY +PING`. */
export interface DatabaseUser {
  readonly username: string;
  /** SHA-256 of the password, in hex: a user can be re-applied without anybody keeping the password. */
  readonly passwordHash: string;
  readonly rules: string;
}

/** PEM files of a certificate for this machine and of the authority that signed it. */
export interface TlsFiles {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** One process. */
export interface DatabaseNode {
  /** `node-0` or `node-1`; stays with the data, whatever the role. */
  readonly id: string;
  readonly port: number;
  /** 0 where it was never brought up. */
  readonly pid: number;
  readonly role: "primary" | "replica";
}

/** What becomes of the node that a failover is about: its process is started anew, or it begins with nothing and gets its data anew. */
export type Renewal = "restart" | "recreate";

/** A database that runs. Its processes outlive this object and the platform; `stop` ends them. */
export interface Database {
  readonly host: string;
  /** Primary first. */
  nodes(): readonly DatabaseNode[];
  /** Port of the primary. */
  port(): number;
  /** Why a replica does not run or is not in sync, as it was when the nodes were brought up last; undefined where all are. */
  trouble(): Error | undefined;
  /** True where every node answers and has its data, and the primary takes writes. Never rejects. */
  ping(): Promise<boolean>;
  /** Nodes whose process does not run. Costs no more than a look. */
  down(): readonly DatabaseNode[];
  /** Nodes whose process is there and does nothing. Costs no more than a look. */
  halted(): readonly DatabaseNode[];
  /** Nodes that have not answered for seconds, and were not at work meanwhile. Never rejects. */
  silent(): Promise<readonly DatabaseNode[]>;
  /** Flushes the data to disk and ends the processes. Rejects with EngineError where the disk refuses; they run on then. */
  stop(): Promise<void>;
  /**
   * Brings back the nodes that died or do not answer, on their ports; resolves at once when none did. The node that has the data is
   * primary then. Rejects as `Engine.start` does.
   */
  revive(signal?: AbortSignal): Promise<void>;
  /** Puts a new password of the tenant's user in force, without a restart; or leaves all as it was, and rejects. */
  setPassword(password: string): Promise<void>;
  /**
   * Creates or replaces a user on every node that runs, or leaves all as it was, and rejects: with EngineError for a rule that the
   * server refuses.
   */
  setUser(user: DatabaseUser): Promise<void>;
  /** Removes a user and ends its connections; a user that is not there is none of its business. */
  removeUser(username: string): Promise<void>;
  /**
   * Takes a node, by default the primary, for failed. A primary that answers swaps roles with its replica: writes are refused for a moment, and none
   * is lost; it rejects with EngineError, and changes nothing, when no replica is in sync. One that does not answer is ended, and the
   * replica is primary with what it has. The node is then treated as told.
   */
  failover(failed?: string, then?: Renewal): Promise<void>;
  /** Writes the data as it is now to a file, whole or not at all. Rejects when the server cannot save. */
  snapshot(file: string): Promise<void>;
  /** Tells of every process that ended without being asked to. */
  onExit(listener: (node: DatabaseNode) => void): void;
}

export interface StartOptions {
  /** Id of a node that has failed and must not be primary; another one is with what it has, even if the failed one took writes without it. */
  readonly failed?: string;
  /** Is told, for people, what is out of the ordinary. */
  readonly notify?: (what: string) => void;
}

/** A database server together with the graph module. */
export interface Engine {
  /** `valkey` or `redis`. */
  readonly name: string;
  readonly version: string;
  /** How it was chosen, for people. */
  readonly why: string;
  /**
   * Starts a database and resolves when it serves, with its replica in sync, or with the reason in `trouble`. Processes of an earlier
   * platform over the same folder are taken over when they run as the spec says, and ended otherwise. A database that had data never
   * starts without them. Rejects with EngineError, whose message has the server's own words, or with the signal's reason.
   */
  start(spec: DatabaseSpec, signal?: AbortSignal, options?: StartOptions): Promise<Database>;
  /** True where a server works on data of this folder. */
  isRunning(dir: string): Promise<boolean>;
  /** Ends every server over the folder whose data were removed under it. */
  endOrphans(dir: string): Promise<void>;
  /** Ends every server over the folder and removes it. Resolves also when there is none. */
  destroy(dir: string): Promise<void>;
}
