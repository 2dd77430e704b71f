import { describe, expect, it } from "vitest";
import { locationsOf, serviceIdentity } from "../../src/hosting/identify-service.ts";
import { builtInProfiles, loadProfile } from "../../src/hosting/profile/load-profile.ts";
import { serviceDifferences } from "../../src/model/service-identity.ts";

/**
 * Whoever changes one of these makes every state that was written before refuse this version until `state rebind`: it
 * must mean that objects are looked for elsewhere. New names may be added.
 */
const published: { readonly [profile: string]: { readonly [name: string]: string } } = {
  default: {
    "instance.describe": "e1da0eb63cd24ce2",
    "account.get": "e1da0eb63cd24ce2",
    "network.describe": "6e8f497ea366892d",
    "user.list": "6002493126ab6487",
    "enterprise-byoa/standalone": "4f808985c16b8666",
    "enterprise-byoa/single-zone": "85a126564d4090a7",
    "enterprise-byoa/multi-zone": "53d87ecae2ab9f00",
    "enterprise/standalone": "54d8f0191d0a96ac",
    "enterprise/single-zone": "ddfb969ffce7ee45",
    "enterprise/multi-zone": "240da9c14bac4819",
    "pro/standalone": "fcc59f46bad8d164",
    "pro/single-zone": "8efb8229c2a3e16f",
    "pro/multi-zone": "8b3abc2d7258ec61",
    "startup/standalone": "6401889e0cf2f3fb",
    "free/free": "1918e59072f2bcb4",
  },
  "falkordb-cloud": {
    "instance.describe": "e1da0eb63cd24ce2",
    "account.get": "e1da0eb63cd24ce2",
    "network.describe": "5a1519f23502f7ac",
    "user.list": "6002493126ab6487",
    "enterprise-byoa/standalone": "d5f023872fb21426",
    "enterprise-byoa/single-zone": "4cf88370dc5be4f2",
    "enterprise-byoa/multi-zone": "1b01c39711215bc9",
    "enterprise-byoa/cluster-single-zone": "dc69dac38e48347e",
    "enterprise-byoa/cluster-multi-zone": "e807b6bba9e344b8",
    "enterprise/standalone": "dcaf4554170ab146",
    "enterprise/single-zone": "5391eb8b6066d6e4",
    "enterprise/multi-zone": "eef2d5ed9113c2aa",
    "enterprise/cluster-single-zone": "6d8fd69e21aa72f7",
    "enterprise/cluster-multi-zone": "7f7cf8452825a5f9",
    "pro/standalone": "90734faab9081559",
    "pro/single-zone": "d70f2a2d8515a5fb",
    "pro/multi-zone": "e396c4f4606cf2c4",
    "pro/cluster-multi-zone": "eb2b9c7a76e6b773",
    "startup/standalone": "c7aeba04bc4f8436",
    "free/free": "de83ffcd26114837",
  },
};

describe("the identity of a service", () => {
  it.each(builtInProfiles)("profile %s still looks where it looked", async (name) => {
    expect(locationsOf(await loadProfile(name))).toMatchObject(published[name] ?? { nothing: "published" });
  });

  it("is the same however the URL is written", async () => {
    const profile = await loadProfile("default");
    const [plain, written] = ["https://a.example.com", "https://A.example.com:443/"].map((platformUrl) =>
      serviceIdentity({ profile, platformUrl, usersUrl: `${platformUrl}/` }),
    );
    expect(written).toEqual(plain);
    expect(plain).not.toHaveProperty("users");
  });

  it("of a local platform is that of its data folder, whatever its ports are", async () => {
    const profile = await loadProfile("default");
    const [before, after] = [1000, 2000].map((port) =>
      serviceIdentity({
        profile,
        platformUrl: `http://127.0.0.1:${port}`,
        usersUrl: `http://127.0.0.1:${port + 1}`,
        localId: "4711",
      }),
    );
    expect(after).toEqual(before);
    expect(before?.platform).toBe("local:4711");
  });

  it("names what differs, and compares of the locations only what both know", async () => {
    const profile = await loadProfile("default");
    const of = (usersUrl: string, locations: { readonly [name: string]: string }) => ({
      ...serviceIdentity({ profile, platformUrl: "https://a.example.com", usersUrl }),
      locations,
    });
    const before = of("https://u.example.com", { one: "1", two: "2" });
    expect(serviceDifferences(before, of("https://u.example.com", { two: "2", three: "3" }))).toEqual([]);
    expect(serviceDifferences(before, of("https://v.example.com", { one: "9" }))).toEqual([
      "users host https://u.example.com, now https://v.example.com",
      "the profile has other paths or keys for one",
    ]);
  });
});

describe("subscriptions in the identity of a service", () => {
  const base = { platform: "https://a.example.com", keys: {}, locations: {} };
  it.each([
    ["the same", { subscriptions: { pro: "p", free: "f" } }, { subscriptions: { pro: "p", free: "f" } }, []],
    ["a tier more", { subscriptions: { pro: "p" } }, { subscriptions: { pro: "p", free: "f" } }, []],
    ["a tier less", { subscriptions: { pro: "p", free: "f" } }, { subscriptions: { pro: "p" } }, []],
    [
      "another one",
      { subscriptions: { pro: "p" } },
      { subscriptions: { pro: "q" } },
      ["subscription of pro p, now q"],
    ],
    ["one that became those of tiers", { subscription: "p" }, { subscriptions: { pro: "p", free: "f" } }, []],
    ["one, and a look-up to come", { subscription: "p" }, { subscriptions: {} }, []],
    [
      "one that is none of the tiers'",
      { subscription: "x" },
      { subscriptions: { pro: "p", free: "f" } },
      ["subscription x, now p, f"],
    ],
    ["none that was known", {}, { subscriptions: { pro: "p" } }, []],
    ["those of tiers that became this one", { subscriptions: { pro: "p" } }, { subscription: "p" }, []],
    [
      "those of tiers that became one for all",
      { subscriptions: { pro: "p", free: "f" } },
      { subscription: "p" },
      ["subscription of free f, now p"],
    ],
  ])("%s", (_, before, now, differences) => {
    expect(serviceDifferences({ ...base, ...before }, { ...base, ...now })).toEqual(differences);
  });
});
