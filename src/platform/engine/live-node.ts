import type { DatabaseNode } from "./database.ts";
import type { NodeFiles } from "./node-files.ts";
import type { ServerProcess } from "./server-process.ts";

/** One node of a database that was started. */
export interface LiveNode {
  readonly index: number;
  readonly port: number;
  readonly role: DatabaseNode["role"];
  readonly files: NodeFiles;
  /** Its process, which runs, or ran until a moment ago; absent for a replica that could not be brought up. */
  readonly server?: ServerProcess;
}

/** The node as callers of the engine see it. */
export function shownNode({ port, role, server, files }: LiveNode): DatabaseNode {
  return { id: files.id, port, pid: server?.identity.pid ?? 0, role };
}

/** Ports of all nodes, in the order of their ids. */
export function portsOf(nodes: readonly LiveNode[]): readonly number[] {
  return nodes.toSorted((a, b) => a.index - b.index).map(({ port }) => port);
}
