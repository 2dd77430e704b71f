/** @module Reads what a local platform announces about itself once it is ready. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject } from "../../model/json.ts";
import { platformOn } from "../../platform/lock.ts";

/** Options of the commands about the local platform. */
export interface PlatformOptions {
  readonly dataDir: string;
  readonly json?: boolean;
}

/** The JSON line that a platform prints once it is ready, parsed; `line` is its text. */
export interface Announcement {
  readonly url: string;
  readonly usersUrl: string;
  readonly pid: number;
  readonly engine: unknown;
  /** Name of the profile that it serves, if that is not the default one. */
  readonly profile?: string;
  readonly line: string;
}

/** Reads the announcement of the last platform of a data folder; that platform may have ended since. */
export async function lastAnnouncement(dataDir: string): Promise<Announcement | undefined> {
  return parseAnnouncement(await readFile(join(dataDir, "platform.json"), "utf8").catch(() => ""));
}

/** Parses a line; undefined if it is no announcement. */
export function parseAnnouncement(text: string): Announcement | undefined {
  const line = text.trim();
  const { url, usersUrl, pid, engine, profile } = parseObject(line);
  if (typeof url !== "string" || typeof pid !== "number") return undefined;
  const served = typeof profile === "string" ? { profile } : {};
  return { url, usersUrl: String(usersUrl), pid, engine, ...served, line };
}

/**
 * Explains how manifests of a service's own profile reach the platform: without a setting that profile, and every one that
 * extends it, goes to the service itself. Empty for the default profile.
 */
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
  const {
    name,
    version = "",
    why,
  } = isObject(engine) ? engine : { name: engine, version: undefined, why: undefined };
  const what =
    name === "none"
      ? "no databases run (engine none)"
      : `databases run on ${String(name)} ${String(version)}`;
  return `${what.trimEnd()}${why === undefined ? "" : `: ${String(why)}`}\n`;
}

function parseObject(text: string): { readonly [key: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
