/** @module Fetches the engine of the local platform, and reports whether one runs. */
import { GraphformError } from "../../model/errors.ts";
import { engineCache } from "../../platform/engine/setup/engine-cache.ts";
import { setupEngine } from "../../platform/engine/setup/setup-engine.ts";
import type { Environment } from "../../project/settings.ts";
import { escapeText } from "../../report/escape.ts";
import { wrapLines } from "../../report/text-width.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { engineText, runningPlatform } from "./announcement.ts";

/** `platform setup`: fetches what is missing of an engine and prints which one databases run on. Throws `no-engine`. */
export async function platformSetup(env: Environment, terminal: Terminal): Promise<number> {
  let isFetched = false;
  const found = await setupEngine(env, (line) => {
    isFetched = true;
    terminal.err(`${escapeText(line, 600)}\n`);
  });
  if (found.engine === undefined)
    throw new GraphformError("no-engine", found.reason, {
      hint: found.hint ?? "leave GRAPHFORM_ENGINE out to get one",
    });
  const { name, version, why } = found.engine;
  if (!isFetched) terminal.err(`nothing to fetch (fetched files are kept in ${engineCache(env)})\n`);
  terminal.out(wrapLines(`databases run on ${name} ${version} (${why})\n`, terminal.columns));
  return 0;
}

/** `platform status`: prints whether a platform runs, and its URL. Exit 0 if it runs, otherwise 1. */
export async function platformStatus(dataDir: string, json: boolean, terminal: Terminal): Promise<number> {
  const found = await runningPlatform(dataDir);
  if (json) {
    const { url, usersUrl, engine, pid } = found ?? {};
    const where = found === undefined ? {} : { url, usersUrl, engine, pid };
    terminal.out(`${JSON.stringify({ running: found !== undefined, dataDir, ...where })}\n`);
  } else if (found === undefined)
    terminal.out("not running; start it with `graphform platform up --detach`\n");
  else {
    const text = `running at ${found.url} (pid ${found.pid})\n${engineText(found.engine)}`;
    terminal.out(wrapLines(text, terminal.columns));
  }
  return found === undefined ? 1 : 0;
}
