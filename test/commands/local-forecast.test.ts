import { expect, it } from "vitest";
import { loadProfile } from "../../src/hosting/profile/load-profile.ts";
import { expectedTime } from "../../src/model/time-limit.ts";
import { atLocalPlatform, type LocalPlatform } from "../../src/project/locate-service.ts";

const local: LocalPlatform = {
  ...{ url: "http://127.0.0.1:1", usersUrl: "http://127.0.0.1:1", username: "u", password: "p" },
  ...{ isRunning: true, hasDatabases: true, delays: { create: 20_000, update: 50 } },
};
const create = { kind: "instances", operation: "create" } as const;

it.each<[string, Partial<LocalPlatform>, number]>([
  ["its own delay, and the start of a database", {}, 21_000],
  ["its own delay alone where no databases run", { hasDatabases: false }, 20_000],
  ["not the service's time where it says nothing", { delays: {} }, 0],
])("the local platform's forecast is %s", async (_, over, expected) => {
  const profile = await loadProfile("default");
  expect(expectedTime(create, profile)).toBe(30_000);
  expect(expectedTime(create, atLocalPlatform(profile, { ...local, ...over }))).toBe(expected);
  expect(expectedTime(create, atLocalPlatform(profile, local), { "instances.create": 700 })).toBe(700);
});
