/** @module Fetches the engine of the local platform, reports whether a platform runs, and stops it. */

import { realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { hasEndedWithin, signalTo } from "../../files/process-identity.ts";
import { GraphformError } from "../../model/errors.ts";
import { findServers } from "../../platform/engine/server-processes.ts";
import { engineCache } from "../../platform/engine/setup/engine-cache.ts";
import { setupEngine } from "../../platform/engine/setup/setup-engine.ts";
import { platformOn } from "../../platform/lock.ts";
import { escapeText } from "../../report/escape.ts";
import { wrapLines } from "../../report/text-width.ts";
import type { Invocation } from "../with-run.ts";
import { engineText, type PlatformOptions, runningPlatform } from "./announcement.ts";

/** `platform setup`: fetches what is missing of an engine and prints which one databases run on. Throws `no-engine`. */
export async function platformSetup({ settings, terminal }: Invocation<object>): Promise<number> {
  const env = settings.environment();
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
export async function platformStatus({ options, terminal }: Invocation<PlatformOptions>): Promise<number> {
  const { dataDir, json = false } = options;
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

/** Longest time for a platform to save the data of its databases and end, in ms. */
const platformGrace = 120_000;

/** Longest time for a database to save its data and end, in ms. */
const databaseGrace = 60_000;

/**
 * Stops the platform of a data folder and its databases with SIGTERM, and waits until they have ended. Also ends databases
 * that still run after their platform was killed.
 */
export async function platformDown({ options, terminal }: Invocation<PlatformOptions>): Promise<number> {
  const { dataDir } = options;
  const platform = await platformOn(dataDir);
  if (platform !== undefined) {
    signalTo(platform, "SIGTERM");
    if (!(await hasEndedWithin(platform, platformGrace)))
      throw new GraphformError("platform-stays", `the platform (pid ${platform.pid}) does not stop`, {
        hint: `see ${join(dataDir, "platform.log")}`,
      });
  }
  const endedAny = await endDatabases(dataDir);
  if (platform !== undefined || endedAny)
    terminal.err("the local platform is down; its databases and their data are kept\n");
  else terminal.err("no local platform is running here\n");
  return 0;
}

/**
 * Ends the databases of a data folder whose platform is gone, and saves their data. Returns false if there were none. Throws
 * `databases-stay` if one cannot save: it is left running, because its memory holds the only copy.
 */
async function endDatabases(dataDir: string): Promise<boolean> {
  const folder = await realpath(join(dataDir, "databases")).catch(() => resolve(dataDir, "databases"));
  const servers = findServers().filter((server) => dirname(dirname(server.folder)) === folder);
  for (const server of servers) {
    signalTo(server, "SIGCONT");
    // If the folder is gone, there is nowhere to save the data.
    signalTo(server, server.isFolderRemoved ? "SIGKILL" : "SIGTERM");
  }
  const hasEnded = await Promise.all(servers.map((server) => hasEndedWithin(server, databaseGrace)));
  const left = servers.filter((_, at) => hasEnded[at] === false).map(({ pid }) => pid);
  if (left.length === 0) return servers.length > 0;
  throw new GraphformError("databases-stay", `databases do not stop: process ${left.join(", ")}`, {
    hint: `see the server.log of each one below ${folder}; the disk may be full`,
  });
}
