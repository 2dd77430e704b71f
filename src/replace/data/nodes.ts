/** @module Connects to every node of a database, and knows which connections are our own. */
import type { DatabaseTarget } from "../../database/failures.ts";
import type { Link } from "./link.ts";

/** One node of a database. */
export interface Node {
  readonly target: DatabaseTarget;
  readonly role: "primary" | "replica";
  /** The connection for everything but data: it is never kept waiting by a copy of ours. */
  readonly control: Link;
  /** Opens one more connection, to a database by its number. Rejects with a DatabaseError, or with the reason of the signal. */
  open(signal: AbortSignal, database?: number): Promise<Link>;
  /** The ids of our open connections, as CLIENT LIST shows them. */
  ownIds(): ReadonlySet<number>;
}

/** All nodes of one database. */
export interface Side {
  readonly primary: Node;
  readonly replicas: readonly Node[];
  readonly nodes: readonly Node[];
  /** Closes all connections. A pause of writes that we hold goes on until its end. */
  close(): void;
}

/**
 * Connects to every node, and finds the primary. `timeout` of a target limits signing in and each short command. Rejects with a DatabaseError
 * if a node cannot be reached or none is primary, or with the reason of the signal.
 */
export function openSide(targets: readonly DatabaseTarget[], signal: AbortSignal): Promise<Side> {
  throw new Error(`not written yet ${targets.length}${signal.aborted}`);
}
