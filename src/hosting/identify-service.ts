/** @module Computes the identity of a service, which a state is compared with. */

import { createHash } from "node:crypto";
import { defined, own } from "../model/json.ts";
import type { Profile } from "../model/service.ts";
import { localPrefix, type ServiceIdentity } from "../model/service-identity.ts";
import { lookUps } from "./operations.ts";
import type { GivenSubscriptions } from "./subscriptions/subscriptions.ts";
import { baseOf } from "./wire/request-url.ts";

export interface ServicePlace extends GivenSubscriptions {
  readonly profile: Profile;
  readonly platformUrl: string;
  /** Without it the users host is the platform host. */
  readonly usersUrl?: string;
  /** Id of the local platform's data folder, if that is what answers at these URLs. */
  readonly localId?: string;
}

/** Leaves out timing, types, spellings and statuses: they change with versions of graphform, and the objects stay. */
export function serviceIdentity(place: ServicePlace): ServiceIdentity {
  const { profile, subscriptionId, localId } = place;
  const isLookedUp = profile.subscriptions === "per-tier" && subscriptionId === undefined;
  const subscriptions = place.subscriptions ?? (isLookedUp ? {} : undefined);
  const platform = urlOf(place.platformUrl);
  const users = urlOf(place.usersUrl ?? place.platformUrl);
  return {
    platform: localId === undefined ? platform : `${localPrefix}${localId}`,
    ...(localId !== undefined || users === platform ? {} : { users }),
    ...defined({ subscription: subscriptionId, subscriptions }),
    keys: profile.keys,
    locations: locationsOf(profile),
  };
}

/** Digests of the parts of a profile by which objects are found, by name. */
export function locationsOf({ operations, tiers }: Profile): ServiceIdentity["locations"] {
  const paths = lookUps.flatMap((name): [string, string][] => {
    const endpoint = own(operations, name);
    if (endpoint === undefined) return [];
    const query = Object.entries(endpoint.query).sort(([a], [b]) => (a < b ? -1 : 1));
    return [[name, digest([endpoint.host, endpoint.path, query])]];
  });
  const places = Object.entries(tiers).flatMap(([tier, { serviceModelKey, productTierKey, components }]) =>
    Object.entries(components).map(([component, resourceKey]): [string, string] => [
      `${tier}/${component}`,
      digest([serviceModelKey, productTierKey, resourceKey]),
    ]),
  );
  return Object.fromEntries([...paths, ...places]);
}

function urlOf(url: string): string {
  const { origin, path } = baseOf(url);
  return `${origin}${path}`;
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}
