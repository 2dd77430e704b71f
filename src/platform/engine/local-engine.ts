import { realpath, rm } from "node:fs/promises";
import { resolve } from "node:path";
import type { Parts } from "./bring-up.ts";
import type { Engine } from "./database.ts";
import { inTurn } from "./in-turn.ts";
import { LocalDatabase } from "./local-database.ts";
import { endAll } from "./processes.ts";
import { endingOnPurpose } from "./server-process.ts";

/** The engine that a server and a module make; `why` says how they were chosen. */
export function createEngine(parts: Parts, why: string): Engine {
  const { name, version } = parts.program;
  return {
    name,
    version,
    why,
    start: (spec, signal) => LocalDatabase.start(parts, spec, signal),
    async destroy(path) {
      const dir = await realpath(path).catch(() => resolve(path));
      await inTurn(dir, async () => {
        await endingOnPurpose(`${dir}/node-`, () => endAll(`${dir}/node-`, 0));
        await rm(dir, { recursive: true, force: true });
      });
    },
  };
}
