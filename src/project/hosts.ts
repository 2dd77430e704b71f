/** @module Chooses the two hosts of a service from option, environment, manifest and profile. */
import { GraphformError } from "../model/errors.ts";
import { withoutUserinfo } from "../model/userinfo.ts";

/** One source of host URLs. */
export interface HostLayer {
  readonly platformUrl?: string | undefined;
  readonly usersUrl?: string | undefined;
  /** Name of the source for messages: `the profile falkordb-cloud`. */
  readonly from: string;
}

/** The two hosts of a service. */
export interface Hosts {
  readonly platformUrl: string;
  /** Absent if the platform host also serves users. */
  readonly usersUrl?: string;
}

/**
 * Chooses from the layers, the first layer first; undefined if none names a platform. Token and passwords are sent to both
 * hosts, so they must change together: throws `hosts-apart` if a layer replaces one host of a pair and keeps the other.
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
    throw hostsApart("platform", platform.from, platformUrl, "users", users.from, usersUrl);
  }
  const oldUsers = layers.slice(atPlatform).find((layer) => layer.usersUrl !== undefined)?.usersUrl;
  if (atUsers < atPlatform && oldUsers !== undefined && !isSameUrl(oldUsers, usersUrl)) {
    throw hostsApart("users", users.from, usersUrl, "platform", platform.from, platformUrl);
  }
  return { platformUrl, usersUrl };
}

/** True for URLs of the same host and path in any notation. */
export function isSameUrl(left: string, right: string): boolean {
  const [a, b] = [URL.parse(left), URL.parse(right)];
  const path = (url: URL): string => (url.pathname.endsWith("/") ? url.pathname : `${url.pathname}/`);
  return a !== null && b !== null ? a.origin === b.origin && path(a) === path(b) : left === right;
}

type Host = "platform" | "users";

function hostsApart(
  changed: Host,
  by: string,
  url: string,
  kept: Host,
  from: string,
  old: string,
): GraphformError {
  return new GraphformError(
    "hosts-apart",
    `${by} names another ${changed} host, ${withoutUserinfo(url)}, but the ${kept} host would still be ${withoutUserinfo(old)} from ${from}: tokens and passwords would be sent to both`,
    { hint: "name both together: --platform-url and --users-url (one URL where one host serves both)" },
  );
}
