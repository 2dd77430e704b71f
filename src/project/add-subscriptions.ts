/** @module Adds subscriptions to the identity of a service, and checks that none is missing. */
import type { Client } from "../hosting/service-options.ts";
import { noSubscriptionHint } from "../hosting/subscriptions/subscriptions.ts";
import { kinds } from "../kinds/index.ts";
import type { Desired } from "../model/desired.ts";
import { GraphformError, isGraphformError } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import { localPrefix, type ServiceIdentity } from "../model/service-identity.ts";
import { hostsIn } from "../model/templates.ts";

/**
 * Adds what the service shows of whose account this is: the subscription of each tier if the profile has one per tier, and all that the
 * account can see if requests name none. They are looked up in every run, so that the state of one customer is never used with
 * another. The local platform has one account.
 */
export async function withSubscriptions(
  identity: ServiceIdentity,
  service: Client,
  signal: AbortSignal,
  desired: readonly Desired[] = [],
): Promise<ServiceIdentity> {
  const { subscriptions: known, subscription, platform } = identity;
  const isPerTier = service.profile.subscriptions === "per-tier" && known !== undefined;
  const tiers = desired.flatMap(({ spec }) => spec["tier"] ?? []).map(String);
  const subscriptions = isPerTier ? await service.subscriptions([...new Set(tiers)], signal) : known;
  const isNamed = subscription !== undefined || platform.startsWith(localPrefix);
  const all = isNamed ? [] : await service.accountSubscriptions(signal);
  return {
    ...identity,
    ...defined({ subscriptions }),
    ...(all.length === 0 ? {} : { accountSubscriptions: all }),
  };
}

/** Throws `no-subscription` if a resource lacks a needed one, so that nothing is created while what is declared inside of it cannot be. */
export function assertSubscribed(
  desired: readonly Desired[],
  { subscription, subscriptions }: ServiceIdentity,
  { profile }: Pick<Client, "profile">,
): void {
  if (subscription !== undefined) return;
  const without = (tier: string): boolean => subscriptions?.[tier] === undefined;
  const unsubscribed = desired.filter(
    ({ spec }) => spec["tier"] !== undefined && without(String(spec["tier"])),
  );
  const needing = desired.filter(({ kind }) => {
    const { query = {} } = profile.operations[kinds.named(kind).operations.create] ?? {};
    return Object.values(query).some((template) => template.includes("{subscriptionId}"));
  });
  const hosts = new Set(
    needing.flatMap(({ kind, spec }) => hostsIn(kinds.named(kind).schema, spec).map((host) => host.address)),
  );
  const needs = unsubscribed.filter(
    ({ address }) => profile.subscriptions === "per-tier" || hosts.has(address),
  );
  const tiers = [...new Set(needs.map(({ spec }) => String(spec["tier"])))];
  const [first] = tiers;
  if (first === undefined) return;
  const addresses = needs.map(({ address }) => address);
  const examples = `${addresses.slice(0, 3).join(", ")}${addresses.length > 3 ? ", ..." : ""}`;
  const inside = profile.subscriptions === "per-tier" ? "" : ", and what is declared inside needs one";
  throw new GraphformError(
    "no-subscription",
    `no active subscription is known for ${tiers.join(", ")} (${examples})${inside}`,
    { hint: noSubscriptionHint(first) },
  );
}

export interface TierSubscriptions {
  readonly byTier: { readonly [tier: string]: string };
  /** Tier -> the reason why its lookup failed, with a fix; a tier that simply has no subscription is absent. */
  readonly unknown: ReadonlyMap<string, string>;
}

/** Looks up the subscription of every tier; undefined if requests name none. Rejects if the first lookup is refused. */
export async function tierSubscriptions(
  service: Pick<Client, "profile" | "subscriptions">,
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
