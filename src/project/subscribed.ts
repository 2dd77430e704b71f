import { noSubscriptionHint } from "../hosting/subscription-errors.ts";
import type { Desired } from "../model/desired.ts";
import { GraphformError } from "../model/errors.ts";
import type { ServiceIdentity } from "../model/service-identity.ts";
import type { Connection } from "./connect.ts";

/**
 * The identity of a service with the subscriptions of its tiers, where the profile has one for each: they are looked up now,
 * so that a state is not taken to another customer's.
 */
export async function withSubscriptions(
  identity: ServiceIdentity,
  service: Connection,
  signal: AbortSignal,
  desired: readonly Desired[] = [],
): Promise<ServiceIdentity> {
  const { subscriptions: told } = identity;
  if (service.profile.subscriptions !== "per-tier" || told === undefined) return identity;
  const tiers = desired.filter(({ kind }) => kind === "instances").map(({ spec }) => String(spec["tier"]));
  return { ...identity, subscriptions: await service.subscriptions([...new Set(tiers)], signal) };
}

/**
 * Throws `no-subscription` where something is declared that cannot be made without a subscription, and there is none: said
 * before a database is made whose users could not be.
 */
export function assertSubscribed(
  desired: readonly Desired[],
  { subscription, subscriptions }: ServiceIdentity,
  { profile }: Pick<Connection, "profile">,
): void {
  if (subscription !== undefined) return;
  const without = (tier: string): boolean => subscriptions?.[tier] === undefined;
  const named = desired.filter(({ kind, spec }) => kind === "instances" && without(String(spec["tier"])));
  const declared = desired.filter(({ kind }) => kind === "users");
  const hosts = new Set(declared.map(({ spec }) => `instances.${String(spec["instance"])}`));
  const needs = named.filter(
    ({ address }) => profile.subscriptions === "per-tier" || (hosts.has(address) && asks(profile)),
  );
  const tiers = [...new Set(needs.map(({ spec }) => String(spec["tier"])))];
  const [first] = tiers;
  if (first === undefined) return;
  const addresses = needs.map(({ address }) => address);
  const some = `${addresses.slice(0, 3).join(", ")}${addresses.length > 3 ? ", ..." : ""}`;
  const users = profile.subscriptions === "per-tier" ? "" : ", and its users need one";
  throw new GraphformError(
    "no-subscription",
    `no active subscription is known for ${tiers.join(", ")} (${some})${users}`,
    { hint: noSubscriptionHint(first) },
  );
}

/** True where the users host is told a subscription. */
function asks({ operations }: Connection["profile"]): boolean {
  const query = Object.values(operations["user.create"]?.query ?? {});
  return query.some((template) => template.includes("{subscriptionId}"));
}
