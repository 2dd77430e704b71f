import { onTestFinished } from "vitest";
import { createService } from "../../src/hosting/client.ts";
import { loadProfile } from "../../src/hosting/profile/load-profile.ts";
import type { Client, ServiceOptions } from "../../src/hosting/service-options.ts";
import { type Clock, systemClock } from "../../src/model/clock.ts";
import type { Listening, Reply, Seen } from "./listen.ts";

/** The real clock with naps in place of sleeps; remembers how long each was meant to be. */
export function nappingClock(): Clock & { readonly slept: readonly number[] } {
  const slept: number[] = [];
  return {
    ...systemClock,
    slept,
    sleep: (ms, signal) => {
      slept.push(ms);
      return systemClock.sleep(0, signal);
    },
  };
}

/** The real clock, `times` as fast. */
export function fastClock(times: number): Clock {
  return {
    ...systemClock,
    now: () => Date.now() * times,
    sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
  };
}

/** A client of the default profile for a test's server. */
export async function serviceOf(
  { url }: Pick<Listening, "url">,
  options: Partial<ServiceOptions> = {},
): Promise<Client> {
  const client = createService({
    profile: await loadProfile("default"),
    platformUrl: url,
    credentials: { username: "ada", password: "s3cret-Pa55" },
    clock: nappingClock(),
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

export const place: { readonly [name: string]: string } = {
  serviceModelKey: "hosted",
  productTierKey: "pro",
  resourceKey: "standalone",
};

/** Never aborted. */
export const always: AbortSignal = new AbortController().signal;

const signedIn: Reply = {
  headers: {
    "set-cookie": [
      "svc_token=token-1; Max-Age=3600; Path=/; HttpOnly",
      "svc_refresh_token=refresh-1; Max-Age=86400",
    ],
  },
};

/** Signs everybody in, and leaves the rest to `reply`. */
export function behindSignIn(
  reply: (seen: Seen, number: number) => Reply | Promise<Reply>,
): (seen: Seen) => Reply | Promise<Reply> {
  let count = 0;
  return (seen) => {
    if (seen.url.endsWith("/user/signin")) return signedIn;
    count += 1;
    return reply(seen, count);
  };
}

/** How a promise was rejected. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`it was taken: ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}
