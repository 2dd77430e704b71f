/** @module Looks up the subscription of each tier for an import. */
import { isGraphformError } from "../../model/errors.ts";
import type { ServiceSection } from "../../model/manifest.ts";
import type { ServiceIdentity } from "../../model/service-identity.ts";
import type { Connection } from "../../project/connect.ts";
import type { Found } from "./read-places.ts";

/** Subscriptions by tier. */
export interface TierSubscriptions {
  readonly byTier: { readonly [tier: string]: string };
  /** Tier -> the reason why its lookup failed, with a fix; a tier that simply has no subscription is absent. */
  readonly unknown: ReadonlyMap<string, string>;
}

/** Looks up the subscription of every tier; undefined if requests name none. Rejects if the first lookup is refused. */
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
      return [[tier, `${error.message}; add the right one to the manifest: service.subscriptions.${tier}`]];
    }
  });
  return { byTier, unknown: new Map((await Promise.all(reasons)).flat()) };
}

/** Entries for `service.subscriptions` of the found objects: with them a plan needs no lookup. */
export function subscriptionsUsed(
  found: readonly Found[],
  subscriptions: TierSubscriptions | undefined,
): ServiceSection["subscriptions"] {
  const used = new Set(found.map(({ place }) => String(place["tier"] ?? "")));
  const entries = Object.entries(subscriptions?.byTier ?? {}).filter(([tier]) => used.has(tier));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
