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
import { setting } from "./setting.ts";

/** Where the service of a run is, and which one it is. */
export interface ServiceLocation extends ServicePlace {
  /** What answers there, where it is a local platform. */
  readonly local?: LocalPlatform;
  readonly identity: ServiceIdentity;
  /** Hides the secrets of the run in what the service says in its own words. */
  readonly hide?: Hide;
}

/**
 * Finds the service: option, environment, manifest, profile, and at last the local platform. Sends nothing. Throws
 * `no-service`, `no-platform`, `hosts-apart`, or `url-invalid` and `url-in-clear` for a URL that is not to be used.
 */
export async function locateService(
  { header, profile, folder, hide }: ServiceTarget,
  options: Pick<RunOptions, "platformUrl" | "usersUrl" | "subscription">,
  env: NodeJS.ProcessEnv,
): Promise<ServiceLocation> {
  const { service } = header;
  const local = await findLocalPlatform(localPlatformOf(folder));
  const told: readonly HostLayer[] = [
    {
      platformUrl: options.platformUrl,
      usersUrl: options.usersUrl,
      from: "the command line",
    },
    {
      platformUrl: setting(env, "GRAPHFORM_PLATFORM_URL"),
      usersUrl: setting(env, "GRAPHFORM_USERS_URL"),
      from: "the environment",
    },
    { platformUrl: service?.platformUrl, usersUrl: service?.usersUrl, from: "the manifest" },
  ];
  const byName = [...told, { ...profile, from: `the profile ${profile.name}` }];
  const running =
    local?.isRunning === true
      ? [{ platformUrl: local.url, usersUrl: local.usersUrl, from: "the local platform" }]
      : [];
  const hosts =
    hostsOf(byName.map((layer) => withLocalUsers(layer, local))) ?? hostsOf([...told, ...running]);
  if (hosts === undefined) throw service === undefined ? noLocalPlatform() : noUrl();
  const isLocal = local !== undefined && URL.parse(hosts.platformUrl)?.origin === new URL(local.url).origin;
  const forAll = options.subscription ?? setting(env, "GRAPHFORM_SUBSCRIPTION_ID");
  const local_ = isLocal && profile.subscriptions !== "per-tier" ? localSubscription : undefined;
  const subscriptionId = forAll ?? service?.subscriptionId ?? local_;
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

/** Who names the local platform by its URL means both of its hosts. */
function withLocalUsers(layer: HostLayer, local: LocalPlatform | undefined): HostLayer {
  const { platformUrl, usersUrl } = layer;
  if (local === undefined || platformUrl === undefined || usersUrl !== undefined) return layer;
  return isSameUrl(platformUrl, local.url) ? { ...layer, usersUrl: local.usersUrl } : layer;
}

function noUrl(): GraphformError {
  return new GraphformError(
    "no-service",
    "the manifest has a service section, and nothing says where the service is",
    {
      hint: "set service.platformUrl, GRAPHFORM_PLATFORM_URL or --platform-url",
    },
  );
}
