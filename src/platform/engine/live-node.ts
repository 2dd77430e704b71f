import type { DatabaseNode } from "./database.ts";
import type { ServerProcess } from "./server-process.ts";

/** One node whose process runs, or ran until a moment ago. */
export interface LiveNode {
  readonly index: number;
  readonly port: number;
  readonly role: DatabaseNode["role"];
  readonly server: ServerProcess;
}

/** The node as callers of the engine see it. */
export function shownNode({ port, role, server }: LiveNode): DatabaseNode {
  return { id: server.files.id, port, pid: server.pid, role };
}
