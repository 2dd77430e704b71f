/** @module Defines the identities that a state belongs to, of a service and of a manifest, and compares two of each. */
/** The service that a state, or a saved plan, belongs to: everything that decides whether its objects are found. */
export interface ServiceIdentity {
  /** URL of the platform host; `local:ID` for a local platform, whose port may change whenever it starts. */
  readonly platform: string;
  /** URL of the users host, if it is another one. */
  readonly users?: string;
  /** Absent if requests name none. */
  readonly subscription?: string;
  /** By tier, if they differ by tier: given, or looked up at the start of a run. */
  readonly subscriptions?: { readonly [tier: string]: string };
  /** Those that the account of the run can see, where requests name none and the service lists them; never a person. */
  readonly accountSubscriptions?: readonly string[];
  /** The profile's fixed path parameters: provider, service. */
  readonly keys: { readonly [name: string]: string };
  /** Digests of each request that looks an object up, and of the keys of each tier and component: a profile that has more still matches. */
  readonly locations: { readonly [name: string]: string };
}

/** The manifest that a state belongs to; empty if nothing of it is known. */
export interface ManifestIdentity {
  /** As declared. */
  readonly environment?: string;
  /** Its files, by their paths within their Git repository. */
  readonly paths?: readonly string[];
}

export const localPrefix = "local:";

/** Describes the differences; empty if both are the same service. Compares only locations that both have. */
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
    ...accountDifference(before, now),
    ...keys,
    ...(moved.length === 0 ? [] : [`the profile has other paths or keys for ${moved.join(", ")}`]),
  ];
}

/** Compares tiers that both know. If tiers have replaced one subscription for everything, that one must still be among them. */
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

/** Two accounts that both see a subscription may share a state; where they have none in common, the objects of one are not the other's. */
function accountDifference(before: ServiceIdentity, now: ServiceIdentity): readonly string[] {
  const [was, is] = [before.accountSubscriptions ?? [], now.accountSubscriptions ?? []];
  if (was.length === 0 || is.length === 0 || is.some((id) => was.includes(id))) return [];
  const [first, second] = [was, is].map(
    (ids) => `${ids.slice(0, 3).join(", ")}${ids.length > 3 ? ", ..." : ""}`,
  );
  return [`an account with the subscriptions ${first}, now one with ${second}`];
}

/** The identity without subscriptions of other tiers than these. */
export function limitedTo(identity: ServiceIdentity, tiers: ReadonlySet<string>): ServiceIdentity {
  const { subscriptions } = identity;
  if (subscriptions === undefined) return identity;
  const used = Object.entries(subscriptions).filter(([tier]) => tiers.has(tier));
  return { ...identity, subscriptions: Object.fromEntries(used) };
}

/** One service as two runs have seen it: what either knows, and the subscriptions that both accounts see. */
export function joined(before: ServiceIdentity, now: ServiceIdentity): ServiceIdentity {
  const [was, is] = [before.accountSubscriptions, now.accountSubscriptions];
  const common = was === undefined ? is : is === undefined ? was : was.filter((id) => is.includes(id));
  return {
    ...now,
    keys: { ...before.keys, ...now.keys },
    locations: { ...before.locations, ...now.locations },
    ...(now.subscriptions && { subscriptions: { ...before.subscriptions, ...now.subscriptions } }),
    ...(common && { accountSubscriptions: common }),
  };
}

/**
 * Describes the difference; undefined if both are the same manifest, or if that cannot be known. Declared environments decide; else the
 * files do, which may grow or shrink by layers.
 */
export function manifestDifference(before: ManifestIdentity, now: ManifestIdentity): string | undefined {
  const [was, is] = [before.paths, now.paths];
  const areDeclared = before.environment !== undefined && now.environment !== undefined;
  const isSame = areDeclared
    ? before.environment === now.environment
    : isWithin(was, is) || isWithin(is, was);
  const isLost = before.environment !== undefined && now.environment === undefined;
  const isUnknown = !areDeclared && !isLost && (was === undefined || is === undefined);
  return isSame || isUnknown ? undefined : `${manifestText(before)}, now ${manifestText(now)}`;
}

/** Files that a state remembers and a run was not given, though it was given others of them. A manifest that was moved has none in common. */
export function filesNotGiven(
  { paths: was = [] }: ManifestIdentity,
  now: ManifestIdentity,
): readonly string[] {
  const missing = was.filter((path) => now.paths?.includes(path) === false);
  return missing.length === was.length ? [] : missing;
}

function isWithin(some: readonly string[] | undefined, all: readonly string[] | undefined): boolean {
  return some?.every((path) => all?.includes(path)) === true;
}

function manifestText({ environment, paths = [] }: ManifestIdentity): string {
  const declared = environment === undefined ? "no environment" : `environment ${environment}`;
  return paths.length === 0 ? declared : `${paths.join(" + ")} (${declared})`;
}

type Difference = readonly [what: string, was: string | undefined, is: string | undefined];

function spoken(value: string | undefined): string {
  if (value === undefined) return "(none)";
  return value.startsWith(localPrefix)
    ? `the local platform ${value.slice(localPrefix.length, localPrefix.length + 8)}`
    : value;
}
