import { readFile, realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { hasEndedWithin, signalTo } from "../files/process-identity.ts";
import { GraphformError } from "../model/errors.ts";
import { isObject } from "../model/json.ts";
import { findServers } from "../platform/engine/server-processes.ts";

/** What a platform says of itself once it is ready; `line` is all of it. */
export interface Announcement {
  readonly url: string;
  readonly usersUrl: string;
  readonly pid: number;
  readonly engine: unknown;
  /** The profile whose wire it speaks, where that is not the default one. */
  readonly profile?: string;
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
  const { url, usersUrl, pid, engine, profile } = parsed(line);
  if (typeof url !== "string" || typeof pid !== "number") return undefined;
  const spoken = typeof profile === "string" ? { profile } : {};
  return { url, usersUrl: String(usersUrl), pid, engine, ...spoken, line };
}

/**
 * Says how manifests reach a platform that speaks a service's own profile: that one, and every profile that extends it,
 * names the service itself. Nothing for the default profile.
 */
export function howReached({ profile, url }: Pick<Announcement, "profile" | "url">): string {
  return profile === undefined
    ? ""
    : `manifests of the profile ${profile} reach it by service.platformUrl: ${url}, or by GRAPHFORM_PLATFORM_URL=${url}\n`;
}

/**
 * Ends the databases of a data folder that nobody looks after any more, with their data saved. False: there were none.
 * Throws `databases-stay` where one cannot save: it is left as it is, since its memory is all that there is.
 */
export async function endDatabases(dataDir: string): Promise<boolean> {
  const folder = await realpath(join(dataDir, "databases")).catch(() => resolve(dataDir, "databases"));
  const servers = findServers().filter((server) => dirname(dirname(server.folder)) === folder);
  for (const server of servers) {
    signalTo(server, "SIGCONT");
    // Where the folder is gone, there is nothing left to be saved.
    signalTo(server, server.isHomeless ? "SIGKILL" : "SIGTERM");
  }
  const hasEnded = await Promise.all(servers.map((server) => hasEndedWithin(server, savingTime)));
  const left = servers.filter((_, at) => hasEnded[at] === false).map(({ pid }) => pid);
  if (left.length === 0) return servers.length > 0;
  throw new GraphformError("databases-stay", `databases do not end: process ${left.join(", ")}`, {
    hint: `each one's server.log below ${folder} says why; it may have no room to save its data`,
  });
}

function parsed(text: string): { readonly [key: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
