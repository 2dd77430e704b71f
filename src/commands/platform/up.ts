/** @module Starts the local platform, in the foreground or detached. */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { makeFolder } from "../../files/atomic-write.ts";
import { GraphformError } from "../../model/errors.ts";
import { isObject, objectIn } from "../../model/json.ts";
import { platformOn } from "../../platform/lock.ts";
import type { RunningPlatform } from "../../platform/start.ts";
import { platformProgram } from "../../project/package-files.ts";
import { wrapLines } from "../../report/typeset.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Invocation } from "../with-run.ts";

const browserHint = "see it in a browser: graphform platform open\n";
/** Signals that end a platform in the foreground, or one that is not ready yet. A closed terminal sends SIGHUP. */
const endSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Starts the local platform; in the foreground until it is stopped, or detached as soon as it is ready. `rest` goes to its program. */
export async function platformUp(
  { options, settings, terminal }: Invocation<PlatformOptions & { readonly detach?: boolean }>,
  ...rest: string[]
): Promise<number> {
  // Databases run in other folders: a relative path would mean another place there.
  const dataDir = resolve(options.dataDir);
  await makeFolder(dataDir);
  const start: Start = (given) =>
    spawn(process.execPath, [platformProgram, "--data-dir", dataDir, ...rest], {
      ...given,
      env: Object.fromEntries(passedOn.map((name) => [name, settings.environment()[name]])),
    });
  const { json = false, detach = false } = options;
  return detach ? startDetached(start, dataDir, json, terminal) : runInForeground(start, json, terminal);
}

type Start = (given: { readonly stdio: StdioOptions; readonly detached?: boolean }) => ChildProcess;

async function runInForeground(start: Start, asJson: boolean, terminal: Terminal): Promise<number> {
  const child = start({ stdio: ["ignore", "pipe", "inherit"] });
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of endSignals) process.on(signal, forward);
  child.stdout?.setEncoding("utf8");
  child.stdout?.on("data", (line: string) => {
    const ready = parseAnnouncement(line);
    if (asJson || ready === undefined) terminal.out(line);
    else terminal.out(readyText(ready, "; Ctrl-C stops it and keeps the data", terminal));
  });
  const code = await new Promise<number>((resolve) => child.once("exit", (exit) => resolve(exit ?? 1)));
  for (const signal of endSignals) process.off(signal, forward);
  return code;
}

async function startDetached(
  start: Start,
  dataDir: string,
  asJson: boolean,
  terminal: Terminal,
): Promise<number> {
  const log = join(dataDir, "platform.log");
  const out = openSync(log, "a", 0o600);
  const child = start({ stdio: ["ignore", out, out], detached: true });
  closeSync(out);
  const giveUp = (): void => void child.kill("SIGTERM");
  for (const signal of endSignals) process.on(signal, giveUp);
  const seen: { ready?: Announcement | undefined; winner?: Announcement | undefined } = {};
  const isSettled = async (): Promise<boolean> => {
    const found = await lastAnnouncement(dataDir);
    if (found?.pid === child.pid) seen.ready = found;
    const isAlive = child.exitCode === null && child.signalCode === null;
    if (seen.ready !== undefined || isAlive) return seen.ready !== undefined;
    // Another platform may have taken the folder, and may still be starting.
    seen.winner = await runningPlatform(dataDir);
    return seen.winner !== undefined || (await platformOn(dataDir)) === undefined;
  };
  const deadline = performance.now() + 120_000;
  while (performance.now() < deadline && !(await isSettled())) await pause(20);
  for (const signal of endSignals) process.off(signal, giveUp);
  child.unref();
  const { ready, winner } = seen;
  if (ready !== undefined) {
    const end = `, pid ${ready.pid}; \`graphform platform down\` stops it and keeps the data`;
    terminal.out(asJson ? `${ready.line}\n` : readyText(ready, end, terminal));
    return 0;
  }
  if (winner !== undefined) {
    const message = `a platform is running here already, at ${winner.url} (pid ${winner.pid})`;
    const hint = "use it as it is, or stop it with `graphform platform down`";
    throw new GraphformError("platform-running", message, { hint });
  }
  const last = (await readFile(log, "utf8").catch(() => "")).trim().split("\n").at(-1) ?? "";
  throw new GraphformError("platform-failed", `the platform did not start: ${last}`, { hint: `see ${log}` });
}

/** Everything that a person needs to know once it is ready; `end` is the end of the first line. */
function readyText(ready: Announcement, end: string, { columns }: Pick<Terminal, "columns">): string {
  const lines = `ready at ${ready.url}${end}\n${engineText(ready.engine)}${profileHint(ready)}${browserHint}`;
  return wrapLines(lines, columns);
}

/** Names of the variables. The platform outlives the shell that starts it, so it gets no others, secrets least of all. */
const passedOn = [
  // Paths of programs and files.
  ...["PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "LD_LIBRARY_PATH"],
  // Database server and graph module.
  ...["GRAPHFORM_ENGINE", "GRAPHFORM_MODULE"],
  // Node.js: cache of compiled code, time zone and locale.
  ...["NODE_COMPILE_CACHE", "TZ", "LANG", "LC_ALL"],
];

export interface PlatformOptions {
  readonly dataDir: string;
  readonly json?: boolean;
}

/** The JSON line that a platform prints once it is ready, parsed; `line` is its text. */
interface Announcement extends Pick<RunningPlatform, "url" | "usersUrl" | "pid"> {
  readonly engine: unknown;
  /** Name of the profile that it serves, if that is not the default one. */
  readonly profile?: string;
  readonly line: string;
}

/** Reads the announcement of the last platform of a data folder; that platform may have ended since. */
async function lastAnnouncement(dataDir: string): Promise<Announcement | undefined> {
  return parseAnnouncement(await readFile(join(dataDir, "platform.json"), "utf8").catch(() => ""));
}

/** Parses a line; undefined if it is not an announcement. */
export function parseAnnouncement(text: string): Announcement | undefined {
  const line = text.trim();
  const { url, usersUrl, pid, engine, profile } = objectIn(line) ?? {};
  if (typeof url !== "string" || typeof pid !== "number") return undefined;
  const served = typeof profile === "string" ? { profile } : {};
  return { url, usersUrl: String(usersUrl), pid, engine, ...served, line };
}

/** Names the setting that sends manifests of the served profile here and not to the service itself. Empty for the default profile. */
export function profileHint({ profile, url }: Pick<Announcement, "profile" | "url">): string {
  return profile === undefined
    ? ""
    : `manifests of the profile ${profile} reach it by service.platformUrl: ${url}, or by GRAPHFORM_PLATFORM_URL=${url}\n`;
}

/** Returns the announcement of the platform that runs on a data folder; undefined if none runs or it is not ready. */
export async function runningPlatform(dataDir: string): Promise<Announcement | undefined> {
  const [found, platform] = [await lastAnnouncement(dataDir), await platformOn(dataDir)];
  return platform !== undefined && found?.pid === platform.pid ? found : undefined;
}

/** Describes the database engine of an announcement: a line that says what databases run on, and why. */
export function engineText(engine: unknown): string {
  const { name = engine, version = "", why } = isObject(engine) ? engine : {};
  const run = `databases run on ${String(name)} ${String(version)}`;
  const what = name === "none" ? "no databases run (engine none)" : run;
  return `${what.trimEnd()}${why === undefined ? "" : `: ${String(why)}`}\n`;
}
