/** @module Fetches the engine of the local platform. */
import { GraphformError } from "../../model/errors.ts";
import { engineCache } from "../../platform/engine/setup/engine-cache.ts";
import { setupEngine } from "../../platform/engine/setup/setup-engine.ts";
import type { Environment } from "../../project/settings.ts";
import { escapeText } from "../../report/escape.ts";
import { wrapLines } from "../../report/text-width.ts";
import type { Terminal } from "../terminal/terminal.ts";

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
