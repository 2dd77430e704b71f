import { onTestFinished } from "vitest";
import { createService } from "../../src/hosting/client.ts";
import { loadProfile } from "../../src/hosting/profile.ts";
import { systemClock } from "../../src/model/clock.ts";
import type { JsonObject } from "../../src/model/json.ts";
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

/** Signs in at a workspace's local platform, for one test, as whoever works past graphform. */
export async function outsider(user: Workspace): Promise<Outsider> {
  const { url, usersUrl }: { url: string; usersUrl: string } = JSON.parse(
    user.read(".graphform/platform/platform.json"),
  );
  const credentials: { username: string; password: string } = JSON.parse(
    user.read(".graphform/platform/credentials.json"),
  );
  const client = createService({
    profile: await loadProfile(fullProfile),
    platformUrl: url,
    usersUrl,
    subscriptionId: "sub-local",
    credentials,
    clock: systemClock,
  });
  onTestFinished(() => client.close());
  const { signal } = new AbortController();
  return {
    service: client,
    read: (operation, params) => client.read({ operation, params }, signal),
    write: (operation, params, body) =>
      client.write({ operation, params, ...(body === undefined ? {} : { body }) }, signal),
  };
}
