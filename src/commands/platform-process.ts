import { readFileSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { GraphformError } from "../model/errors.ts";
import { isObject } from "../model/json.ts";
import { isGoneWithin, processesOver } from "../platform/engine/processes.ts";

/** What a platform says of itself once it is ready; `line` is all of it. */
export interface Announcement {
  readonly url: string;
  readonly usersUrl: string;
  readonly pid: number;
  readonly engine: unknown;
  readonly line: string;
}

/** How long a database may take to save its data and end, in ms. */
const savingTime = 60_000;

/** What the last platform of a data folder announced; it need not run any more. */
export async function announced(dataDir: string): Promise<Announcement | undefined> {
  return announcement(await readFile(join(dataDir, "platform.json"), "utf8").catch(() => ""));
}

/** A line as an announcement; undefined where it is none. */
export function announcement(text: string): Announcement | undefined {
  const line = text.trim();
  const { url, usersUrl, pid, engine } = parsed(line);
  if (typeof url !== "string" || typeof pid !== "number") return undefined;
  return { url, usersUrl: String(usersUrl), pid, engine, line };
}

/** The process of the platform that runs on a data folder, also while it is starting; undefined where none does. */
export async function platformPid(dataDir: string): Promise<number | undefined> {
  const lock = parsed(await readFile(join(dataDir, "platform.lock"), "utf8").catch(() => ""));
  const pids = [(await announced(dataDir))?.pid, lock["pid"]].filter((pid) => typeof pid === "number");
  return pids.find(isPlatform);
}

/** True while the process lives and is a platform: after a crash its number may be another process's. */
export function isPlatform(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return /platform\/main\.[jt]s/.test(readFileSync(`/proc/${pid}/cmdline`, "utf8"));
  } catch {
    return true;
  }
}

/**
 * Ends the databases of a data folder that nobody looks after any more, with their data saved. False: there were none.
 * Throws `databases-stay` where one cannot save: it is left as it is, since its memory is all that there is.
 */
export async function endDatabases(dataDir: string): Promise<boolean> {
  const folder = `${await realpath(join(dataDir, "databases")).catch(() => resolve(dataDir, "databases"))}/`;
  const pids = processesOver(folder);
  for (const pid of pids) end(pid);
  const isGone = await Promise.all(pids.map((pid) => isGoneWithin(pid, folder, savingTime)));
  const left = pids.filter((_, at) => isGone[at] === false);
  if (left.length === 0) return pids.length > 0;
  throw new GraphformError("databases-stay", `databases do not end: process ${left.join(", ")}`, {
    hint: `each one's server.log below ${folder} says why; it may have no room to save its data`,
  });
}

/** Asks a process to end; one that is gone has done so. */
function end(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch {}
}

function parsed(text: string): { readonly [key: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
