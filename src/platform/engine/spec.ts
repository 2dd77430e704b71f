/** @module Defines databases of one or two nodes, the engine that starts them, and its errors. */
export interface DatabaseSpec {
  /** Folder of the database: its secrets, and one subfolder per node with data, log and pid file. */
  readonly dir: string;
  /** Name of the tenant's user, possibly `default`. */
  readonly user: string;
  /** Password of the tenant. Processes get its SHA-256; it is never in argv or a file. */
  readonly password: string;
  /** 2: a primary and a replica. */
  readonly nodes: 1 | 2;
  /** Ids of the nodes for people, by index. Default: `node-0` and `node-1`. */
  readonly ids?: readonly string[];
  /** Certificate for TLS; the plain port is closed then. */
  readonly tls?: TlsFiles;
  readonly maxMemoryBytes?: number;
  /** Flush policy of the append-only file; absent: no append-only file. */
  readonly aof?: "everysec" | "always";
  /** Frequency of snapshots to disk; absent: only at a stop. */
  readonly rdb?: "low" | "medium" | "high";
  /** Arguments of the graph module, for example `CACHE_SIZE: 25`. */
  readonly parameters: Readonly<Record<string, number>>;
  /** Preferred ports by node index, used if they are free. */
  readonly ports?: readonly number[];
  readonly users?: readonly DatabaseUser[];
  /** A file written by `snapshot`, to start from. Used only while the database has no data. */
  readonly seed?: string;
}

export interface DatabaseUser {
  readonly username: string;
  /** SHA-256 of the password in hex, so that the user can be applied again without the password. */
  readonly passwordHash: string;
  readonly acl: string;
}

export interface RefusedUser {
  readonly username: string;
  readonly reason: string;
}

/** PEM files of a certificate for this machine and of the authority that signed it. */
export interface TlsFiles {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

export interface DatabaseNode {
  /** It stays with the data when the role changes. */
  readonly id: string;
  readonly port: number;
  /** Process id; 0 for a node that never started. */
  readonly pid: number;
  readonly role: "primary" | "replica";
}

/** The action on the failed node: its process is restarted, or its data is removed and copied again from the primary. */
export type Renewal = "restart" | "recreate";

export interface StartOptions {
  /**
   * Id of a failed node. If the database cannot be started with it, another node becomes primary with the data that it has, even
   * if the failed one took writes without it; the data of the failed one are kept as `data.aside`.
   */
  readonly failed?: string;
  /** Receives unusual events, as texts for people. */
  readonly notify?: (what: string) => void;
  readonly onExit?: (node: DatabaseNode) => void;
}

/** A failure of the engine. The message is for people and contains no secret. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  /** `user-refused`: the server refuses the rules or the name of a user; `engine-refused`: it cannot do what is asked now. */
  readonly code: "engine-missing" | "engine-start" | "engine-refused" | "user-refused";

  constructor(code: EngineError["code"], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** True if a server ended at its start because of its data files: it was not killed, and did not lack time or disk space. */
export function isAboutData(error: unknown): error is EngineError {
  return (
    error instanceof EngineError &&
    error.code === "engine-start" &&
    error.message.includes("did not start") &&
    /append.?only|\bAOF\b|\bRDB\b|\bDB\b|signature|loading/i.test(error.message) &&
    !/no space left|config file error/i.test(error.message)
  );
}
