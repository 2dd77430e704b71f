import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { GraphformError } from "../model/errors.ts";
import { isObject } from "../model/json.ts";
import { platformOn } from "../platform/lock.ts";

/** Where the local platform of this folder keeps what is known of it. */
export const localPlatformDir: string = join(".graphform", "platform");

/** The local platform takes any subscription; this is the one that we are in where none is named. */
export const localSubscription = "sub-local";

/** The local platform of this folder, and how to sign in there. */
export interface LocalPlatform {
  readonly url: string;
  readonly usersUrl: string;
  readonly username: string;
  readonly password: string;
  /** Random identity of its data folder; absent for a platform of an earlier version. */
  readonly id?: string;
  /** The authority of its databases that serve over TLS. */
  readonly caFile?: string;
  readonly isRunning: boolean;
  /** False for a control plane alone: nothing answers at the endpoints that it shows. */
  readonly hasDatabases: boolean;
}

/**
 * The data folder of the local platform that a manifest means: the one beside the manifest where a platform was ever
 * started there, otherwise the one of the current folder, where `platform up` starts it.
 */
export function localPlatformOf(manifestFolder: string): string {
  const beside = join(manifestFolder, localPlatformDir);
  return existsSync(join(beside, "credentials.json")) ? beside : localPlatformDir;
}

/** What a platform's data folder says, or undefined where none has announced itself there. */
export async function findLocalPlatform(dir: string = localPlatformDir): Promise<LocalPlatform | undefined> {
  const [found, credentials, platform, id] = await Promise.all([
    readJson(join(dir, "platform.json")),
    readJson(join(dir, "credentials.json")),
    platformOn(dir),
    readFile(join(dir, "control", "id"), "utf8").catch(() => ""),
  ]);
  const { url, usersUrl, caFile, pid, engine } = found;
  const { username, password } = credentials;
  if (typeof url !== "string" || typeof username !== "string" || typeof password !== "string")
    return undefined;
  return {
    url,
    usersUrl: typeof usersUrl === "string" ? usersUrl : url,
    username,
    password,
    hasDatabases: !(isObject(engine) && engine["name"] === "none"),
    isRunning: pid !== undefined && pid === platform?.pid,
    ...(typeof caFile === "string" ? { caFile } : {}),
    ...(id.trim() === "" ? {} : { id: id.trim() }),
  };
}

/** The error for a manifest that means the local platform while none is known. */
export function noLocalPlatform(): GraphformError {
  return new GraphformError(
    "no-platform",
    "the manifest names no service, and no local platform is running here",
    {
      hint: "start it with `graphform platform up --detach`, or name a service in the manifest",
    },
  );
}

async function readJson(file: string): Promise<{ readonly [key: string]: unknown }> {
  try {
    const value: unknown = JSON.parse(await readFile(file, "utf8"));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
