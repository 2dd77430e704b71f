/** @module Finds the service of a run: its hosts, subscription and identity. */
import { type ServicePlace, serviceIdentity } from "../hosting/service-identity.ts";
import type { Hide } from "../hosting/service-options.ts";
import { GraphformError } from "../model/errors.ts";
import type { ServiceIdentity } from "../model/service-identity.ts";
import { type HostLayer, hostsOf, isSameUrl } from "./hosts.ts";
import {
  findLocalPlatform,
  type LocalPlatform,
  localPlatformOf,
  localSubscription,
  noLocalPlatform,
} from "./local-platform.ts";
import type { RunOptions } from "./run-options.ts";
import type { ServiceTarget } from "./service-target.ts";
import type { Settings } from "./settings.ts";

/** URLs, subscription and identity of the service of a run. */
export interface ServiceLocation extends ServicePlace {
  /** Set if the service is a local platform. */
  readonly local?: LocalPlatform;
  readonly identity: ServiceIdentity;
  /** Hides the secrets of the run in messages of the service. */
  readonly hide?: Hide;
}

/**
 * Finds the service from option, environment, manifest, profile, local platform, in this order. Sends nothing. Throws
 * `no-service`, `no-platform`, `hosts-apart`, `url-invalid`, `url-in-clear`.
 */
export async function locateService(
  { header, profile, folder, hide }: ServiceTarget,
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
  const hosts =
    hostsOf(withProfile.map((layer) => withLocalUsers(layer, local))) ?? hostsOf([...named, ...running]);
  if (hosts === undefined) throw service === undefined ? noLocalPlatform() : noUrl();
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
    ...(hide === undefined ? {} : { hide }),
  };
}

/** Adds the users host of the local platform to a layer that names only its platform URL. */
function withLocalUsers(layer: HostLayer, local: LocalPlatform | undefined): HostLayer {
  const { platformUrl, usersUrl } = layer;
  if (local === undefined || platformUrl === undefined || usersUrl !== undefined) return layer;
  return isSameUrl(platformUrl, local.url) ? { ...layer, usersUrl: local.usersUrl } : layer;
}

function noUrl(): GraphformError {
  return new GraphformError(
    "no-service",
    "the manifest has a service section, but no URL of the service is set",
    {
      hint: "set service.platformUrl, GRAPHFORM_PLATFORM_URL or --platform-url",
    },
  );
}
