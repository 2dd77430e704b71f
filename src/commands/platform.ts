import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { hasEndedWithin, signalTo } from "../files/process-identity.ts";
import { GraphformError } from "../model/errors.ts";
import { isObject } from "../model/json.ts";
import { platformOn } from "../platform/lock.ts";
import { platformProgram } from "../project/package-files.ts";
import { platformEnvironment } from "./platform-environment.ts";
import { type Announcement, announced, announcement, endDatabases, howReached } from "./platform-process.ts";
import type { Terminal } from "./terminal.ts";

/** What `platform up` was told; everything else on its command line goes to the platform's program. */
export interface PlatformUpOptions {
  readonly dataDir: string;
  readonly json: boolean;
  readonly detach: boolean;
  /** Environment of the command; the platform gets little of it. */
  readonly env: NodeJS.ProcessEnv;
  /** Arguments of the platform's own program. */
  readonly rest: readonly string[];
}

const seeIt = "see it in a browser: graphform platform open\n";
/** What ends a platform in the foreground, or one that is not ready yet: a closed terminal too. */
const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Starts the local platform; in the foreground until it is stopped, or detached as soon as it is ready. */
export async function platformUp(options: PlatformUpOptions, terminal: Terminal): Promise<number> {
  // Databases run in folders of their own: what they are told must not depend on ours.
  const placed = { ...options, dataDir: resolve(options.dataDir) };
  mkdirSync(placed.dataDir, { recursive: true, mode: 0o700 });
  return options.detach ? detached(placed, terminal) : inForeground(placed, terminal);
}

/**
 * Ends the platform of a data folder with its databases, gently, and waits until they are gone. Databases that outlived
 * a platform that was killed are ended as well.
 */
export async function platformDown(dataDir: string, terminal: Terminal): Promise<number> {
  const platform = await platformOn(dataDir);
  if (platform !== undefined) {
    signalTo(platform, "SIGTERM");
    if (!(await hasEndedWithin(platform, stoppingTime)))
      throw new GraphformError("platform-stays", `the platform (pid ${platform.pid}) does not stop`, {
        hint: `see ${join(dataDir, "platform.log")}`,
      });
  }
  const left = await endDatabases(dataDir);
  if (platform !== undefined || left)
    terminal.err("the local platform is down; its databases and their data are kept\n");
  else terminal.err("no local platform is running here\n");
  return 0;
}

/** Says whether a platform runs, and where. Exit code 0 when it runs, 1 when not. */
export async function platformStatus(dataDir: string, json: boolean, terminal: Terminal): Promise<number> {
  const found = await running(dataDir);
  if (json) {
    const { url, usersUrl, engine, pid } = found ?? {};
    const where = found === undefined ? {} : { url, usersUrl, engine, pid };
    terminal.out(`${JSON.stringify({ running: found !== undefined, dataDir, ...where })}\n`);
  } else if (found === undefined)
    terminal.out("not running; start it with `graphform platform up --detach`\n");
  else terminal.out(`running at ${found.url} (pid ${found.pid}), ${engineText(found.engine)}\n`);
  return found === undefined ? 1 : 0;
}

/** How long a platform may take to save the data of its databases and end, in ms. */
const stoppingTime = 120_000;

/** What the platform that runs on a data folder announced; undefined where none does, or not yet. */
async function running(dataDir: string): Promise<Announcement | undefined> {
  const [found, platform] = [await announced(dataDir), await platformOn(dataDir)];
  return platform !== undefined && found?.pid === platform.pid ? found : undefined;
}

async function inForeground(options: PlatformUpOptions, terminal: Terminal): Promise<number> {
  const child = spawn(process.execPath, [platformProgram, "--data-dir", options.dataDir, ...options.rest], {
    stdio: ["ignore", "pipe", "inherit"],
    env: platformEnvironment(options.env),
  });
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of endings) process.on(signal, forward);
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (line: string) => {
    const ready = announcement(line);
    if (options.json || ready === undefined) terminal.out(line);
    else
      terminal.out(
        `ready at ${ready.url} (${engineText(ready.engine)}); Ctrl-C stops it and keeps the data\n${howReached(ready)}${seeIt}`,
      );
  });
  const code = await new Promise<number>((resolve) => child.once("exit", (exit) => resolve(exit ?? 1)));
  for (const signal of endings) process.off(signal, forward);
  return code;
}

async function detached(options: PlatformUpOptions, terminal: Terminal): Promise<number> {
  const before = await running(options.dataDir);
  const log = join(options.dataDir, "platform.log");
  const out = openSync(log, "a", 0o600);
  const child = spawn(process.execPath, [platformProgram, "--data-dir", options.dataDir, ...options.rest], {
    stdio: ["ignore", out, out],
    detached: true,
    env: platformEnvironment(options.env),
  });
  closeSync(out);
  const giveUp = (): void => void child.kill("SIGTERM");
  for (const signal of endings) process.on(signal, giveUp);
  let exit: number | undefined;
  child.once("exit", (code) => {
    exit = code ?? 1;
  });
  let ready: Announcement | undefined;
  await until(async () => {
    const found = await announced(options.dataDir);
    if (found?.pid === child.pid) ready = found;
    return ready !== undefined || exit !== undefined;
  }, 120_000);
  for (const signal of endings) process.off(signal, giveUp);
  child.unref();
  if (ready !== undefined) {
    terminal.out(
      options.json
        ? `${ready.line}\n`
        : `ready at ${ready.url} (${engineText(ready.engine)}), pid ${ready.pid}\n${howReached(ready)}${seeIt}`,
    );
    return 0;
  }
  if (before !== undefined) {
    throw new GraphformError(
      "platform-running",
      `a platform is running here already, at ${before.url} (pid ${before.pid})`,
      {
        hint: "use it as it is, or stop it with `graphform platform down`",
      },
    );
  }
  throw new GraphformError("platform-failed", `the platform did not start: ${await lastLine(log)}`, {
    hint: `see ${log}`,
  });
}

function engineText(engine: unknown): string {
  if (!isObject(engine)) return `engine ${String(engine)}`;
  return `engine ${String(engine["name"])} ${String(engine["version"] ?? "")}: ${String(engine["why"] ?? "")}`;
}

async function until(condition: () => boolean | Promise<boolean>, ms: number): Promise<void> {
  const end = performance.now() + ms;
  while (performance.now() < end && !(await condition())) await pause(20);
}

async function lastLine(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.trim().split("\n").at(-1) ?? "";
}
