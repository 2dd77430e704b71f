/** @module Ends the processes of a node. */
import type { Login } from "./connection.ts";
import type { LiveNode } from "./live-node.ts";
import { expectingExit } from "./server-process.ts";
import { endServers, serversOf } from "./server-processes.ts";
import { shutDown } from "./shut-down.ts";

/** Ends every process over a node's data with SIGTERM, and with SIGKILL after `grace` ms. */
export async function endNode(nodeFolder: string, grace: number): Promise<void> {
  await expectingExit(
    (folder) => folder === nodeFolder,
    () => endServers(serversOf(nodeFolder), grace),
  );
}

/** Ends a node with its data saved. Rejects as `shutDown` does. */
export async function stopNode({ server, files }: LiveNode, login: Login): Promise<void> {
  await expectingExit(
    (folder) => folder === files.folder,
    async () => {
      if (server !== undefined) await shutDown(files, server.identity, login);
      await endServers(serversOf(files.folder), 3000);
    },
  );
}
