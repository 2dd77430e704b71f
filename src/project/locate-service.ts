/** @module Finds the service of a run: its hosts, subscription and identity, and the local platform by its data folder. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type ServicePlace, serviceIdentity } from "../hosting/identify-service.ts";
import { GraphformError, isGraphformError } from "../model/errors.ts";
import { defined, isObject, type JsonObject, objectIn } from "../model/json.ts";
import { isLoopback, type Profile } from "../model/service.ts";
import type { ServiceIdentity } from "../model/service-identity.ts";
import { withoutUserinfo } from "../model/userinfo.ts";
import { platformOn } from "../platform/lock.ts";
import type { Project, RunOptions } from "./project.ts";
import type { Settings } from "./settings.ts";

export interface ServiceLocation extends ServicePlace {
  /** Set if the service is a local platform. */
  readonly local?: LocalPlatform;
  /** Says where the local platform listens, if the run names another address of this machine. */
  readonly elsewhere?: string;
  readonly identity: ServiceIdentity;
}

export type ServiceTarget = Pick<Project, "header" | "profile" | "folder" | "limits">;

/** Finds the service from option, environment, manifest, profile, local platform. Throws `no-service`, `no-platform`, `hosts-apart`, `url-invalid`, `url-in-clear`. */
export async function locateService(
  { header, profile, folder, limits }: ServiceTarget,
  options: Pick<RunOptions, "platformUrl" | "usersUrl" | "subscription">,
  settings: Settings,
): Promise<ServiceLocation> {
  const { service } = header;
  // The author of the folder would name hosts, an authority and a login of a local platform.
  const local = await findLocalPlatform(limits === undefined ? localPlatformOf(folder) : localPlatformDir);
  const environment = {
    platformUrl: settings.get("GRAPHFORM_PLATFORM_URL"),
    usersUrl: settings.get("GRAPHFORM_USERS_URL"),
  };
  const named: readonly HostLayer[] = [
    { ...options, from: "the command line" },
    { ...environment, from: "the environment" },
    { ...service, from: "the manifest" },
  ];
  const withProfile = [...named, { ...profile, from: `the profile ${profile.name}` }];
  const running =
    local?.isRunning === true
      ? [{ platformUrl: local.url, usersUrl: local.usersUrl, from: "the local platform" }]
      : [];
  const first = named.find(({ platformUrl }) => platformUrl !== undefined);
  const elsewhere = localElsewhere(first?.platformUrl, local);
  const hosts = chosenHosts(
    [withProfile.map((layer) => withLocalUsers(layer, local)), [...named, ...running]],
    elsewhere,
  );
  if (hosts === undefined) throw service === undefined ? noLocalPlatform() : noUrl(profile.name);
  const isLocal = local !== undefined && URL.parse(hosts.platformUrl)?.origin === new URL(local.url).origin;
  const forAll = options.subscription ?? settings.get("GRAPHFORM_SUBSCRIPTION_ID");
  const localDefault = isLocal && profile.subscriptions !== "per-tier" ? localSubscription : undefined;
  const subscriptionId = forAll ?? service?.subscriptionId ?? localDefault;
  const subscriptions = forAll === undefined ? service?.subscriptions : undefined;
  const localId = isLocal ? local.id : undefined;
  const place: ServicePlace = { ...hosts, profile, ...defined({ subscriptionId, subscriptions, localId }) };
  return {
    ...place,
    identity: serviceIdentity(place),
    ...(isLocal ? { local } : {}),
    ...defined({ elsewhere }),
  };
}

/** Adds the users host of the local platform to a layer that names only its platform URL. */
function withLocalUsers(layer: HostLayer, local: LocalPlatform | undefined): HostLayer {
  const { platformUrl, usersUrl } = layer;
  if (local === undefined || platformUrl === undefined || usersUrl !== undefined) return layer;
  return isSameUrl(platformUrl, local.url) ? { ...layer, usersUrl: local.usersUrl } : layer;
}

/** The hosts of the first list of layers that names any. Throws `hosts-apart`, with the address of the local platform if that has moved. */
function chosenHosts(
  lists: readonly (readonly HostLayer[])[],
  elsewhere: string | undefined,
): Hosts | undefined {
  try {
    for (const layers of lists) {
      const hosts = hostsOf(layers);
      if (hosts !== undefined) return hosts;
    }
    return undefined;
  } catch (error) {
    if (elsewhere === undefined || !isGraphformError(error)) throw error;
    throw new GraphformError(error.code, error.message, { hint: elsewhere, cause: error });
  }
}

/** A hint for a run that names an address of this machine where the local platform of its folder does not listen. */
function localElsewhere(
  platformUrl: string | undefined,
  local: LocalPlatform | undefined,
): string | undefined {
  if (platformUrl === undefined || local === undefined) return undefined;
  const named = URL.parse(platformUrl);
  if (named === null || !isLoopback(named.hostname) || named.origin === new URL(local.url).origin)
    return undefined;
  return local.isRunning
    ? `the local platform of this folder listens at ${local.url}, not at ${platformUrl}: name that one, or start it with --port ${named.port}`
    : `the local platform of this folder does not run: graphform platform up --detach --port ${named.port}`;
}

function noUrl(profile: string): GraphformError {
  return new GraphformError(
    "no-service",
    `no URL of the service is set: neither the manifest's service section nor the profile ${profile} names one, and no local platform runs here`,
    {
      hint: "set service.platformUrl, GRAPHFORM_PLATFORM_URL or --platform-url, or start the local platform with `graphform platform up --detach`",
    },
  );
}

export interface HostLayer {
  readonly platformUrl?: string | undefined;
  readonly usersUrl?: string | undefined;
  /** Name of the source for messages: `the profile falkordb-cloud`. */
  readonly from: string;
}

type Hosts = Pick<ServicePlace, "platformUrl" | "usersUrl">;

/**
 * Chooses from the layers, the first layer first; undefined if none names a platform. Token and passwords are sent to both
 * hosts, so they must change together: throws `hosts-apart` if a layer replaces one host of a pair and keeps the other.
 */
export function hostsOf(layers: readonly HostLayer[]): Hosts | undefined {
  const [platform, users] = [namedHost("platform", layers), namedHost("users", layers)];
  if (platform === undefined) return undefined;
  if (users === undefined) return { platformUrl: platform.url };
  const [changed, kept] = platform.at < users.at ? [platform, users] : [users, platform];
  const before = namedHost(changed.host, layers.slice(kept.at));
  if (changed.at < kept.at && before !== undefined && !isSameUrl(before.url, changed.url))
    throw hostsApart(changed, kept);
  return { platformUrl: platform.url, usersUrl: users.url };
}

interface NamedHost {
  readonly host: "platform" | "users";
  readonly url: string;
  readonly from: string;
  readonly at: number;
}

function namedHost(host: NamedHost["host"], layers: readonly HostLayer[]): NamedHost | undefined {
  const found = layers.flatMap((layer, at) => {
    const url = layer[`${host}Url`];
    return url === undefined ? [] : [{ host, url, from: layer.from, at }];
  });
  return found[0];
}

/** True for URLs of the same host and path in any notation. */
function isSameUrl(left: string, right: string): boolean {
  const [a, b] = [URL.parse(left), URL.parse(right)];
  const path = (url: URL): string => (url.pathname.endsWith("/") ? url.pathname : `${url.pathname}/`);
  return a !== null && b !== null ? a.origin === b.origin && path(a) === path(b) : left === right;
}

function hostsApart(changed: NamedHost, kept: NamedHost): GraphformError {
  return new GraphformError(
    "hosts-apart",
    `${changed.from} names another ${changed.host} host, ${withoutUserinfo(changed.url)}, but the ${kept.host} host would still be ${withoutUserinfo(kept.url)} from ${kept.from}: tokens and passwords would be sent to both`,
    { hint: "name both together: --platform-url and --users-url (one URL if one host serves both)" },
  );
}

/** Data folder of the local platform, relative to the current folder. */
export const localPlatformDir: string = join(".graphform", "platform");

const localSubscription = "sub-local";

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

/** The folder beside the manifest if a platform was ever started there, otherwise the current one's, as of `platform up`. */
function localPlatformOf(manifestFolder: string): string {
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

function noLocalPlatform(): GraphformError {
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
