import { GraphformError } from "../model/errors.ts";

/** One place that may say where the service's two hosts are. */
export interface HostLayer {
  readonly platformUrl?: string | undefined;
  readonly usersUrl?: string | undefined;
  /** What it is, for messages: `the profile falkordb-cloud`. */
  readonly from: string;
}

/** The two hosts of a service. */
export interface Hosts {
  readonly platformUrl: string;
  /** Absent where the platform host serves users too. */
  readonly usersUrl?: string;
}

/**
 * The hosts that the layers give, the first layer first; undefined where none names a platform. The session's token and
 * the passwords of users go to both hosts, so they change together: throws `hosts-apart` where one of a pair is named
 * anew and the other one would stay.
 */
export function hostsOf(layers: readonly HostLayer[]): Hosts | undefined {
  const atPlatform = layers.findIndex((layer) => layer.platformUrl !== undefined);
  const platform = layers[atPlatform];
  if (platform?.platformUrl === undefined) return undefined;
  const atUsers = layers.findIndex((layer) => layer.usersUrl !== undefined);
  const users = layers[atUsers];
  const { platformUrl } = platform;
  if (users?.usersUrl === undefined) return { platformUrl };
  const { usersUrl } = users;
  const oldPlatform = layers.slice(atUsers).find((layer) => layer.platformUrl !== undefined)?.platformUrl;
  if (atPlatform < atUsers && oldPlatform !== undefined && !isSameUrl(oldPlatform, platformUrl)) {
    throw apart("platform", platform.from, platformUrl, "users", users.from, usersUrl);
  }
  const oldUsers = layers.slice(atPlatform).find((layer) => layer.usersUrl !== undefined)?.usersUrl;
  if (atUsers < atPlatform && oldUsers !== undefined && !isSameUrl(oldUsers, usersUrl)) {
    throw apart("users", users.from, usersUrl, "platform", platform.from, platformUrl);
  }
  return { platformUrl, usersUrl };
}

/** True for URLs of the same host and path, however they are written. */
export function isSameUrl(left: string, right: string): boolean {
  const [a, b] = [URL.parse(left), URL.parse(right)];
  const path = (url: URL): string => (url.pathname.endsWith("/") ? url.pathname : `${url.pathname}/`);
  return a !== null && b !== null ? a.origin === b.origin && path(a) === path(b) : left === right;
}

type Host = "platform" | "users";

function apart(
  changed: Host,
  by: string,
  url: string,
  kept: Host,
  from: string,
  old: string,
): GraphformError {
  return new GraphformError(
    "hosts-apart",
    `${by} names another ${changed} host, ${url}, and the ${kept} host would still be ${old} of ${from}: tokens and passwords would go to both`,
    { hint: "name both together: --platform-url and --users-url (one URL where one host serves both)" },
  );
}
