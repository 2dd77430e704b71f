import { onTestFinished } from "vitest";
import { createService } from "../../src/hosting/client.ts";
import { loadProfile } from "../../src/hosting/profile/load-profile.ts";
import { systemClock } from "../../src/model/clock.ts";
import { defined, type JsonObject } from "../../src/model/json.ts";
import type { Answer, Service } from "../../src/model/service.ts";
import type { Workspace } from "./workspace.ts";

/** Somebody else at the local platform of a workspace. */
export interface Outsider {
  readonly service: Service;
  read(operation: string, params: { readonly [name: string]: string }): Promise<Answer>;
  write(operation: string, params: { readonly [name: string]: string }, body?: JsonObject): Promise<Answer>;
}

/** The profile of the local platform with everything that it has. */
export const fullProfile: string = new URL("full-profile.yaml", import.meta.url).pathname;

/** The vendor's profile, for a service that shows what is so at once. */
export const quickCloudProfile: string = new URL("quick-cloud-profile.yaml", import.meta.url).pathname;

/** A dialect of the local platform, and how a user speaks it. */
export interface Spoken {
  /** Options of `platform up`. */
  readonly platform: readonly string[];
  /** The file of the profile. */
  readonly profile: string;
  /** One for everything; without it each plan has its own. */
  readonly subscriptionId?: string;
  /** The environment that a platform at this URL needs. */
  readonly env: (url: string) => { readonly [name: string]: string };
}

/** The dialect of the default profile. */
export const inDefault: Spoken = {
  platform: [],
  profile: fullProfile,
  subscriptionId: "sub-local",
  env: () => ({}),
};

/** Every dialect, for suites that are the same in all of them. */
export const dialects: { readonly [name: string]: Spoken } = {
  "the default dialect": inDefault,
  "FalkorDB Cloud": {
    platform: ["--profile", "falkordb-cloud"],
    profile: quickCloudProfile,
    env: (url) => ({ GRAPHFORM_PLATFORM_URL: url }),
  },
};

/** Signs in at a workspace's local platform, for one test, as whoever works past graphform. */
export async function outsider(user: Workspace, spoken: Spoken = inDefault): Promise<Outsider> {
  const { profile, subscriptionId } = spoken;
  const { url, usersUrl }: { url: string; usersUrl: string } = JSON.parse(
    user.read(".graphform/platform/platform.json"),
  );
  const credentials: { username: string; password: string } = JSON.parse(
    user.read(".graphform/platform/credentials.json"),
  );
  const client = createService({
    profile: await loadProfile(profile),
    platformUrl: url,
    usersUrl,
    ...defined({ subscriptionId }),
    credentials,
    clock: systemClock,
  });
  onTestFinished(() => client.close());
  const { signal } = new AbortController();
  return {
    service: client,
    read: (operation, params) => client.read({ operation, params }, signal),
    write: (operation, params, body) => client.write({ operation, params, ...defined({ body }) }, signal),
  };
}
