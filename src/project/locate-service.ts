/** @module Finds the service of a run: its hosts, subscription and identity. */

import { type ServicePlace, serviceIdentity } from "../hosting/service-identity.ts";
import { GraphformError, isGraphformError } from "../model/errors.ts";
import { isLoopback } from "../model/loopback.ts";
import type { ServiceIdentity } from "../model/service-identity.ts";
import { type HostLayer, type Hosts, hostsOf, isSameUrl } from "./hosts.ts";
import {
  findLocalPlatform,
  type LocalPlatform,
  localPlatformOf,
  localSubscription,
  noLocalPlatform,
} from "./local-platform.ts";
import type { Project } from "./project.ts";
import type { RunOptions } from "./run-options.ts";
import type { Settings } from "./settings.ts";

/** URLs, subscription and identity of the service of a run. */
export interface ServiceLocation extends ServicePlace {
  /** Set if the service is a local platform. */
  readonly local?: LocalPlatform;
  /** Says where the local platform listens, if the run names another address of this machine. */
  readonly elsewhere?: string;
  readonly identity: ServiceIdentity;
}

/** The parts of a project that locate its service. */
export type ServiceTarget = Pick<Project, "header" | "profile" | "folder">;

/**
 * Finds the service from option, environment, manifest, profile, local platform, in this order. Sends nothing. Throws
 * `no-service`, `no-platform`, `hosts-apart`, `url-invalid`, `url-in-clear`.
 */
export async function locateService(
  { header, profile, folder }: ServiceTarget,
  options: Pick<RunOptions, "platformUrl" | "usersUrl" | "subscription">,
  settings: Settings,
): Promise<ServiceLocation> {
  const { service } = header;
  const local = await findLocalPlatform(localPlatformOf(folder));
  const named: readonly HostLayer[] = [
    {
      platformUrl: options.platformUrl,
      usersUrl: options.usersUrl,
      from: "the command line",
    },
    {
      platformUrl: settings.get("platformUrl"),
      usersUrl: settings.get("usersUrl"),
      from: "the environment",
    },
    { platformUrl: service?.platformUrl, usersUrl: service?.usersUrl, from: "the manifest" },
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
  const forAll = options.subscription ?? settings.get("subscriptionId");
  const localDefault = isLocal && profile.subscriptions !== "per-tier" ? localSubscription : undefined;
  const subscriptionId = forAll ?? service?.subscriptionId ?? localDefault;
  const subscriptions = forAll === undefined ? service?.subscriptions : undefined;
  const localId = isLocal ? local.id : undefined;
  const place: ServicePlace = {
    ...hosts,
    profile,
    ...(subscriptionId === undefined ? {} : { subscriptionId }),
    ...(subscriptions === undefined ? {} : { subscriptions }),
    ...(localId === undefined ? {} : { localId }),
  };
  return {
    ...place,
    identity: serviceIdentity(place),
    ...(isLocal ? { local } : {}),
    ...(elsewhere === undefined ? {} : { elsewhere }),
  };
}

/** Adds the users host of the local platform to a layer that names only its platform URL. */
function withLocalUsers(layer: HostLayer, local: LocalPlatform | undefined): HostLayer {
  const { platformUrl, usersUrl } = layer;
  if (local === undefined || platformUrl === undefined || usersUrl !== undefined) return layer;
  return isSameUrl(platformUrl, local.url) ? { ...layer, usersUrl: local.usersUrl } : layer;
}

/** The hosts of the first list of layers that names any. Throws `hosts-apart`, with the address of the local platform where that has moved. */
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
