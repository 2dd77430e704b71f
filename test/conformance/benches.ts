import { setTimeout as pause } from "node:timers/promises";
import { createService } from "../../src/hosting/client.ts";
import { loadProfile } from "../../src/hosting/profile/load-profile.ts";
import { systemClock } from "../../src/model/clock.ts";
import { defined } from "../../src/model/json.ts";
import type { Driver } from "../../src/model/kind.ts";
import type { Live, Ref } from "../../src/model/observed.ts";
import type { Answer, Call, Profile, Service } from "../../src/model/service.ts";
import type { PlatformOptions } from "../../src/platform/options.ts";
import { startTest } from "../platform/harness.ts";
import { fakeService } from "./fake-service.ts";

/** A service that the suite runs against, watched. */
export interface Bench {
  readonly service: Service;
  /** Everything that was asked, in its order. */
  readonly calls: Call[];
  /** The paths that it was asked at, as they would go, or went, over the wire. */
  readonly paths: string[];
  /** Puts other words into the answers, as if the service had said them. */
  alter: (call: Call, answer: Answer) => Answer;
  close(): Promise<void>;
}

/** Never aborted. */
export const always: AbortSignal = new AbortController().signal;

/** The default profile with networks that can be created, which the suite needs for them. */
const profile = await loadProfile(new URL("../support/full-profile.yaml", import.meta.url).pathname);

/** The vendor's own. */
const cloud = await loadProfile("falkordb-cloud");

/** Name of a service -> how to start it. */
export const benches: { readonly [name: string]: () => Promise<Bench> } = {
  "a fake": async () => {
    const paths: string[] = [];
    return watched(
      fakeService(profile, (path) => paths.push(path)),
      paths,
      async () => undefined,
    );
  },
  "the local platform": () => onPlatform(profile, { networks: "full" }, "sub-1"),
  "the local platform as FalkorDB Cloud": () => onPlatform(cloud, { profile: "falkordb-cloud" }, undefined),
};

async function onPlatform(
  spoken: Profile,
  more: Partial<PlatformOptions>,
  subscriptionId: string | undefined,
): Promise<Bench> {
  const options = { echo: true, autoBootstrap: true, usersPerMinute: 100_000, ...more };
  const { platform, username, password, close } = await startTest({ ...options, delays: 1 });
  const paths: string[] = [];
  const client = createService({
    profile: spoken,
    platformUrl: platform.url,
    usersUrl: platform.usersUrl,
    ...defined({ subscriptionId }),
    credentials: { username, password },
    // A write that was answered with a 500 is not repeated, and a read that was is repeated at once.
    clock: { ...systemClock, sleep: (_ms, signal) => systemClock.sleep(1, signal) },
    trace: (line) => paths.push(line.split(" ")[1] ?? ""),
  });
  return watched(client, paths, async () => {
    await client.close();
    await close();
  });
}

function watched(service: Service, paths: string[], close: () => Promise<void>): Bench {
  const calls: Call[] = [];
  const through =
    (ask: Service["read"]): Service["read"] =>
    async (call, signal) => {
      calls.push(call);
      return bench.alter(call, await ask(call, signal));
    };
  const bench: Bench = {
    service: { ...service, read: through(service.read), write: through(service.write) },
    calls,
    paths,
    alter: (_call, answer) => answer,
    close,
  };
  return bench;
}

/** Looks until what is seen is as wanted; throws after 10 s with what was seen last. */
export async function until(
  driver: Driver,
  ref: Ref,
  isWanted: (live: Live | undefined) => boolean,
): Promise<Live | undefined> {
  const end = Date.now() + 60_000;
  for (;;) {
    const live = await driver.get(ref, always);
    if (isWanted(live)) return live;
    if (Date.now() > end) throw new Error(`waited in vain: ${ref.id} is ${JSON.stringify(live)}`);
    await pause(2);
  }
}

/** Looks until it is ready. */
export async function untilReady(driver: Driver, ref: Ref): Promise<Live> {
  const live = await until(driver, ref, (seen) => seen?.phase.is === "ready");
  if (live === undefined) throw new Error(`${ref.id} is gone`);
  return live;
}
