/** @module Fetches the engine of the local platform, reports whether a platform runs, opens its page, and stops it. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { realpath, rm, writeFile } from "node:fs/promises";
import { delimiter, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { hasEndedWithin, signalTo } from "../../files/process-identity.ts";
import { GraphformError } from "../../model/errors.ts";
import { isObject } from "../../model/json.ts";
import { findServers } from "../../platform/engine/server-processes.ts";
import { engineCache } from "../../platform/engine/setup/engine-cache.ts";
import { setupEngine } from "../../platform/engine/setup/setup-engine.ts";
import { platformOn } from "../../platform/lock.ts";
import { findLocalPlatform, type LocalPlatform } from "../../project/locate-service.ts";
import type { Settings } from "../../project/settings.ts";
import { escapeText, wrapLines } from "../../report/typeset.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Invocation } from "../with-run.ts";
import { engineText, type PlatformOptions, runningPlatform } from "./up.ts";

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
  const { url, usersUrl, engine, pid } = found ?? {};
  if (json)
    terminal.out(
      `${JSON.stringify({ running: found !== undefined, dataDir, url, usersUrl, engine, pid })}\n`,
    );
  else if (found === undefined) terminal.out("not running; start it with `graphform platform up --detach`\n");
  else terminal.out(wrapLines(`running at ${url} (pid ${pid})\n${engineText(engine)}`, terminal.columns));
  return found === undefined ? 1 : 0;
}

/** Longest time for a platform to save the data of its databases and end, in ms. */
const platformGrace = 120_000;

/** Longest time for a database to save its data and end, in ms. */
const databaseGrace = 60_000;

/** Stops the platform of a data folder and its databases, also those whose platform was killed, with SIGTERM, and waits until they have ended. */
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

/** Ends databases whose platform is gone; false if there are none. Throws `databases-stay` if one cannot save: its memory has the only copy. */
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

/**
 * Prints a link that signs in to the page once, within a minute, and opens the page if a person and a browser are present. The
 * browser gets a second link in a private file: other users could read a link in its command line. Throws `no-platform`.
 */
export async function platformOpen(
  invocation: Invocation<PlatformOptions & { readonly browser: boolean }>,
): Promise<number> {
  const { options, settings, terminal } = invocation;
  const { dataDir, browser } = options;
  const platform = await findLocalPlatform(dataDir);
  if (platform?.isRunning !== true)
    throw new GraphformError("no-platform", `no local platform is running in ${dataDir}`, {
      hint: "start it with `graphform platform up --detach`",
    });
  const { url, lifetime } = await newLink(platform);
  terminal.out(`${url}\n`);
  terminal.err(`the link signs in once, within ${lifetime} seconds\n`);
  const command = browser && terminal.interactive ? browserCommand(settings, process.platform) : undefined;
  if (command === undefined) return 0;
  await openFile(command, resolve(dataDir, "open.html"), (await newLink(platform)).url, terminal);
  return 0;
}

/** The link, and its lifetime in s. */
async function newLink(platform: LocalPlatform): Promise<{ url: string; lifetime: number }> {
  const credentials = Buffer.from(`${platform.username}:${platform.password}`).toString("base64");
  const answer = await fetch(new URL("/_platform/page-links", platform.url), {
    method: "POST",
    headers: { authorization: `Basic ${credentials}` },
    signal: AbortSignal.timeout(10_000),
  }).then(
    async (response): Promise<unknown> => (response.ok ? response.json() : response.status),
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const { url, lifetime } = isObject(answer) ? answer : {};
  if (typeof url === "string" && typeof lifetime === "number") return { url, lifetime };
  const message = `the local platform at ${platform.url} did not return a link: ${String(answer)}`;
  const hint = "stop it with `graphform platform down` and start it again";
  throw new GraphformError("platform-answer", message, { hint });
}

/** The command that opens a page: `BROWSER`, or the desktop's own; undefined if there is none. */
export function browserCommand(settings: Settings, system: NodeJS.Platform): string | undefined {
  const [chosen = ""] = (settings.get("BROWSER") ?? "").split(delimiter);
  if (chosen !== "") return chosen;
  if (system === "darwin") return "open";
  if ((settings.get("DISPLAY") ?? settings.get("WAYLAND_DISPLAY")) === undefined) return undefined;
  const folders = (settings.get("PATH") ?? "").split(delimiter);
  return folders.some((folder) => existsSync(join(folder, "xdg-open"))) ? "xdg-open" : undefined;
}

/** Opens a file that only this user can read and that redirects the browser to the link. */
async function openFile(command: string, file: string, url: string, terminal: Terminal): Promise<void> {
  await rm(file, { force: true });
  const page = `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">\n<meta http-equiv="refresh" content="0;url=${url}">\n`;
  await writeFile(file, page, { mode: 0o600, flag: "wx" });
  const child = spawn(command, [pathToFileURL(file).href], { stdio: "ignore", detached: true });
  child.once("error", (error) => terminal.err(`no browser was opened: ${error.message}\n`));
  await new Promise((resolve) => child.once("spawn", resolve).once("error", resolve));
  child.unref();
}
