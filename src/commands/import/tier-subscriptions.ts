/** @module Tells the subscription of each tier to an import, and why a tier has none. */
import { isGraphformError } from "../../model/errors.ts";
import type { ServiceSection } from "../../model/manifest.ts";
import type { ServiceIdentity } from "../../model/service-identity.ts";
import type { Connection } from "../../project/connect.ts";
import type { Found } from "./read-places.ts";

/** The subscription of each tier; undefined where requests name none. */
export interface TierSubscriptions {
  readonly byTier: { readonly [tier: string]: string };
  /** Why the subscription of a tier is not known, with the way out; a tier without one has no reason. */
  readonly unknown: ReadonlyMap<string, string>;
}

/** Looks up the subscription of every tier. Rejects where none at all is known and the service refuses to tell. */
export async function tierSubscriptions(
  service: Pick<Connection, "profile" | "subscriptions">,
  identity: ServiceIdentity,
  signal: AbortSignal,
): Promise<TierSubscriptions | undefined> {
  if (identity.subscription === undefined && identity.subscriptions === undefined) return undefined;
  const byTier = await service.subscriptions([], signal);
  const others = Object.keys(service.profile.tiers).filter((tier) => !Object.hasOwn(byTier, tier));
  const reasons = others.map(async (tier): Promise<readonly [string, string][]> => {
    try {
      await service.subscriptions([tier], signal);
      return [];
    } catch (error) {
      if (signal.aborted || !isGraphformError(error)) throw error;
      return [
        [tier, `${error.message}; add the one that is meant to the manifest: service.subscriptions.${tier}`],
      ];
    }
  });
  return { byTier, unknown: new Map((await Promise.all(reasons)).flat()) };
}

/** What `service.subscriptions` has to say of what was found: a plan then needs no catalogue to know them. */
export function subscriptionsUsed(
  found: readonly Found[],
  subscriptions: TierSubscriptions | undefined,
): ServiceSection["subscriptions"] {
  const used = new Set(found.map(({ place }) => String(place["tier"] ?? "")));
  const entries = Object.entries(subscriptions?.byTier ?? {}).filter(([tier]) => used.has(tier));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
