import type { Login } from "./connection.ts";
import type { LiveNode } from "./live-node.ts";
import { expectingExit } from "./server-process.ts";
import { endServers, serversOf } from "./server-processes.ts";
import { shutDown } from "./shut-down.ts";

/** Ends whatever works on a node's data, gently for `grace` ms and then at once. */
export async function endNode(nodeFolder: string, grace: number): Promise<void> {
  await expectingExit(
    (folder) => folder === nodeFolder,
    () => endServers(serversOf(nodeFolder), grace),
  );
}

/** Ends a node with its data on disk. Rejects as `shutDown` does. */
export async function stopNode({ server, files }: LiveNode, login: Login): Promise<void> {
  await expectingExit(
    (folder) => folder === files.folder,
    async () => {
      if (server !== undefined) await shutDown(files, server.identity, login);
      await endServers(serversOf(files.folder), 3000);
    },
  );
}
