/** @module Defines the identity of a service and compares two of them. */
/** The service that a state, or a saved plan, belongs to: everything that decides where its objects are found. */
export interface ServiceIdentity {
  /** URL of the platform host; `local:ID` for a local platform, whose port may change whenever it starts. */
  readonly platform: string;
  /** URL of the users host, where it is another one. */
  readonly users?: string;
  /** Absent where requests name none. */
  readonly subscription?: string;
  /** By tier, where they differ by tier: given, or looked up at the start of a run. */
  readonly subscriptions?: { readonly [tier: string]: string };
  /** The profile's fixed path parameters: provider, service. */
  readonly keys: { readonly [name: string]: string };
  /**
   * Digests of what else in the profile leads to an object: the requests that look one up, and the keys of each tier and
   * component. One digest for each, so that a profile that has learned more still matches.
   */
  readonly locations: { readonly [name: string]: string };
}

/** Prefix of the name of a local platform. */
export const localPrefix = "local:";

/**
 * Describes the differences; empty where both are the same service. Compares only locations that both have.
 */
export function serviceDifferences(before: ServiceIdentity, now: ServiceIdentity): readonly string[] {
  const named = (what: string, was: string | undefined, is: string | undefined): readonly string[] =>
    was === is ? [] : [`${what} ${spoken(was)}, now ${spoken(is)}`];
  const keys = Object.entries(before.keys).flatMap(([name, was]) =>
    named(`${name} key`, was, Object.hasOwn(now.keys, name) ? now.keys[name] : undefined),
  );
  const moved = Object.keys(before.locations).filter(
    (name) => Object.hasOwn(now.locations, name) && now.locations[name] !== before.locations[name],
  );
  return [
    ...named("platform", before.platform, now.platform),
    ...named("users host", before.users, now.users),
    ...subscriptionDifferences(before, now).flatMap(([what, was, is]) => named(what, was, is)),
    ...keys,
    ...(moved.length === 0 ? [] : [`the profile has other paths or keys for ${moved.join(", ")}`]),
  ];
}

/**
 * Subscriptions that differ. Of those by tier only tiers that both know are compared. One for everything, in whose place
 * those of tiers came, was the one of a tier: that one must still be among them.
 */
function subscriptionDifferences(before: ServiceIdentity, now: ServiceIdentity): readonly Difference[] {
  const [was, is] = [before.subscriptions, now.subscriptions];
  const one: Difference = ["subscription", before.subscription, now.subscription];
  if (was !== undefined && is !== undefined) {
    const both = Object.keys(was).filter((tier) => Object.hasOwn(is, tier));
    const tiers = both.map((tier): Difference => [`subscription of ${tier}`, was[tier], is[tier]]);
    return before.subscription === undefined || now.subscription === undefined ? tiers : [one, ...tiers];
  }
  if (is !== undefined) {
    // None at all: the look-up is still to come.
    const ids = Object.values(is);
    const isKnown =
      before.subscription === undefined || ids.length === 0 || ids.includes(before.subscription);
    return isKnown ? [] : [["subscription", before.subscription, ids.join(", ")]];
  }
  if (was === undefined) return [one];
  return Object.entries(was).map(
    ([tier, id]): Difference => [`subscription of ${tier}`, id, now.subscription],
  );
}

type Difference = readonly [what: string, was: string | undefined, is: string | undefined];

function spoken(value: string | undefined): string {
  if (value === undefined) return "(none)";
  return value.startsWith(localPrefix)
    ? `the local platform ${value.slice(localPrefix.length, localPrefix.length + 8)}`
    : value;
}
