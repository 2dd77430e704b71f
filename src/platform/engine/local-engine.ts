/** @module Makes an engine of a server program and the graph module. */
import { realpath, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { inTurn } from "../in-turn.ts";
import type { Parts } from "./bring-up-node.ts";
import type { Engine } from "./database.ts";
import { LocalDatabase } from "./local-database.ts";
import { expectingExit } from "./server-process.ts";
import { endServers, findServers } from "./server-processes.ts";

/** `why` is the reason for the choice of the server. */
export function createEngine(parts: Parts, why: string): Engine {
  const { name, version } = parts.program;
  return {
    name,
    version,
    why,
    start: (spec, signal, options) => LocalDatabase.start(parts, spec, signal, options),
    async isRunning(path) {
      const dir = await realpath(path).catch(() => resolve(path));
      return findServers().some(({ folder }) => dirname(folder) === dir);
    },
    async endOrphans(path) {
      const dir = resolve(path);
      const isIn = (nodeFolder: string): boolean => dirname(nodeFolder) === dir;
      const orphans = findServers().filter(({ folder, isFolderRemoved }) => isFolderRemoved && isIn(folder));
      await expectingExit(isIn, () => endServers(orphans, 0));
    },
    async destroy(path) {
      const dir = await realpath(path).catch(() => resolve(path));
      const isIn = (nodeFolder: string): boolean => dirname(nodeFolder) === dir;
      await inTurn(dir, async () => {
        const end = (): Promise<void> =>
          endServers(
            findServers().filter(({ folder }) => isIn(folder)),
            0,
          );
        await expectingExit(isIn, end);
        await rm(dir, { recursive: true, force: true });
      });
    },
  };
}
