/** @module Finds the local platform and its credentials in its data folder. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { GraphformError } from "../model/errors.ts";
import { isObject, type JsonObject, objectIn } from "../model/json.ts";
import type { Profile } from "../model/profile.ts";
import { platformOn } from "../platform/lock.ts";

/** Data folder of the local platform, relative to the current folder. */
export const localPlatformDir: string = join(".graphform", "platform");

/** Default subscription at the local platform, which accepts any. */
export const localSubscription = "sub-local";

/** URLs and credentials of a local platform. */
export interface LocalPlatform {
  readonly url: string;
  readonly usersUrl: string;
  readonly username: string;
  readonly password: string;
  /** Random id of its data folder; absent for a platform of an earlier version. */
  readonly id?: string;
  /** CA file of its databases that use TLS. */
  readonly caFile?: string;
  readonly isRunning: boolean;
  /** False for a platform with --engine none: nothing answers at the endpoints it shows. */
  readonly hasDatabases: boolean;
  /** Ms that each operation is made to take; empty for a platform of an earlier version. */
  readonly delays: { readonly [operation: string]: number };
}

/**
 * The data folder for a manifest: the one beside the manifest if a platform was ever started there, otherwise that of the
 * current folder, where `platform up` starts a platform.
 */
export function localPlatformOf(manifestFolder: string): string {
  const beside = join(manifestFolder, localPlatformDir);
  return existsSync(join(beside, "credentials.json")) ? beside : localPlatformDir;
}

/** Reads a data folder; undefined if no platform was started there. */
export async function findLocalPlatform(dir: string = localPlatformDir): Promise<LocalPlatform | undefined> {
  const [found, credentials, platform, id] = await Promise.all([
    readJson(join(dir, "platform.json")),
    readJson(join(dir, "credentials.json")),
    platformOn(dir),
    readFile(join(dir, "control", "id"), "utf8").catch(() => ""),
  ]);
  const { url, usersUrl, caFile, pid, engine, delays } = found;
  const { username, password } = credentials;
  if (typeof url !== "string" || typeof username !== "string" || typeof password !== "string")
    return undefined;
  return {
    url,
    usersUrl: typeof usersUrl === "string" ? usersUrl : url,
    username,
    password,
    hasDatabases: !(isObject(engine) && engine["name"] === "none"),
    delays: Object.fromEntries(
      Object.entries(isObject(delays) ? delays : {}).flatMap(([name, delay]) =>
        typeof delay === "number" ? [[name, delay]] : [],
      ),
    ),
    isRunning: pid !== undefined && pid === platform?.pid,
    ...(typeof caFile === "string" ? { caFile } : {}),
    ...(id.trim() === "" ? {} : { id: id.trim() }),
  };
}

/** Creates the error `no-platform`: the manifest uses the local platform, and none is running. */
export function noLocalPlatform(): GraphformError {
  return new GraphformError(
    "no-platform",
    "the manifest names no service, and no local platform is running here",
    { hint: "start it with `graphform platform up --detach`, or name a service in the manifest" },
  );
}

async function readJson(file: string): Promise<JsonObject> {
  return objectIn(await readFile(file, "utf8").catch(() => "")) ?? {};
}

/** Ms that starting or stopping a real database takes at the local platform, roughly. */
const realWork = 1000;

/** A profile with the times of a local platform: what its operations take there, and no wait for databases if none run. */
export function atLocalPlatform(profile: Profile, { delays, hasDatabases }: LocalPlatform): Profile {
  const { timing } = profile;
  const expected = Object.entries(delays).map(([name, delay]) => [
    name,
    delay + (hasDatabases ? realWork : 0),
  ]);
  const expect: Profile["timing"]["expect"] = Object.fromEntries(expected);
  return { ...profile, timing: { ...timing, expect, ...(hasDatabases ? {} : { endpoint: 0 }) } };
}
