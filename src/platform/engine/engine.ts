/** @module Starts, finds and removes databases with one database server and the graph module. */
import { realpath, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { inTurn } from "../in-turn.ts";
import type { Parts } from "./bring-up-node.ts";
import { Database } from "./database.ts";
import { expectingExit } from "./server-process.ts";
import { endServers, type FoundServer, findServers } from "./server-processes.ts";
import type { DatabaseSpec, StartOptions } from "./spec.ts";

export interface Engine {
  readonly name: string;
  readonly version: string;
  readonly why: string;
  /**
   * Resolves when the database serves and its replica is in sync, or `trouble` has the reason why it is not. Takes over processes of
   * an earlier platform that run as the spec says and ends all others. A database that had data never starts without it. Rejects
   * with EngineError and the server's own message, or with the signal's reason.
   */
  start(spec: DatabaseSpec, signal?: AbortSignal, options?: StartOptions): Promise<Database>;
  isRunning(dir: string): Promise<boolean>;
  /** Ends every server of the folder whose data was removed. */
  endOrphans(dir: string): Promise<void>;
  /** Ends every server of the folder and removes the folder; resolves also if there is none. */
  destroy(dir: string): Promise<void>;
}

export function createEngine(parts: Parts, why: string): Engine {
  const { name, version } = parts.program;
  /** Ends the servers of a database's folder, or those of them that `isMeant`. */
  const endIn = (dir: string, isMeant: (server: FoundServer) => boolean = () => true): Promise<void> =>
    expectingExit(
      (nodeFolder) => dirname(nodeFolder) === dir,
      () =>
        endServers(
          findServers().filter((server) => dirname(server.folder) === dir && isMeant(server)),
          0,
        ),
    );
  return {
    name,
    version,
    why,
    start: (spec, signal, options) => Database.start(parts, spec, signal, options),
    async isRunning(path) {
      const dir = await realpath(path).catch(() => resolve(path));
      return findServers().some(({ folder }) => dirname(folder) === dir);
    },
    endOrphans: (path) => endIn(resolve(path), ({ isFolderRemoved }) => isFolderRemoved),
    async destroy(path) {
      const dir = await realpath(path).catch(() => resolve(path));
      await inTurn(dir, async () => {
        await endIn(dir);
        await rm(dir, { recursive: true, force: true });
      });
    },
  };
}
