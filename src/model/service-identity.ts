/** The service that a state, or a saved plan, belongs to: everything that decides where its objects are found. */
export interface ServiceIdentity {
  /** URL of the platform host; `local:ID` for a local platform, whose port may change whenever it starts. */
  readonly platform: string;
  /** URL of the users host, where it is another one. */
  readonly users?: string;
  /** Absent where requests name none. */
  readonly subscription?: string;
  /** The profile's fixed path parameters: provider, service. */
  readonly keys: { readonly [name: string]: string };
  /**
   * Digests of what else in the profile leads to an object: the requests that look one up, and the keys of each tier and
   * component. One digest for each, so that a profile that has learned more still matches.
   */
  readonly locations: { readonly [name: string]: string };
}

/** How a platform that runs from a folder of this machine is named. */
export const localPrefix = "local:";

/**
 * What makes two identities different services, in words; empty where they are the same one. Of the locations only those
 * are compared that both know.
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
    ...named("subscription", before.subscription, now.subscription),
    ...keys,
    ...(moved.length === 0 ? [] : [`the profile has other paths or keys for ${moved.join(", ")}`]),
  ];
}

function spoken(value: string | undefined): string {
  if (value === undefined) return "(none)";
  return value.startsWith(localPrefix)
    ? `the local platform ${value.slice(localPrefix.length, localPrefix.length + 8)}`
    : value;
}
