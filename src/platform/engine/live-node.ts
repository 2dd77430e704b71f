/** @module Describes a node of a started database. */
import type { DatabaseNode } from "./database.ts";
import type { NodeFiles } from "./node-files.ts";
import type { ServerProcess } from "./server-process.ts";

/** A node of a started database. */
export interface LiveNode {
  readonly index: number;
  readonly port: number;
  readonly role: DatabaseNode["role"];
  readonly files: NodeFiles;
  /** Its process, which may have just ended; absent for a replica that did not start. */
  readonly server?: ServerProcess;
}

/** The node as the engine's callers see it. */
export function shownNode({ port, role, server, files }: LiveNode): DatabaseNode {
  return { id: files.id, port, pid: server?.identity.pid ?? 0, role };
}

/** Ports of all nodes by index. */
export function portsOf(nodes: readonly LiveNode[]): readonly number[] {
  return nodes.toSorted((a, b) => a.index - b.index).map(({ port }) => port);
}
