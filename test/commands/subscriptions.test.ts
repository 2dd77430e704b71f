import { describe, expect, it } from "vitest";
import { loadProfile } from "../../src/hosting/profile/load-profile.ts";
import type { Desired } from "../../src/model/desired.ts";
import { assertSubscribed } from "../../src/project/add-subscriptions.ts";
import { subscriptionsOf } from "../support/cloud.ts";
import { somewhere } from "../support/plan-input.ts";
import { type CloudBench, cloudBench } from "./cloud-bench.ts";

const instance = (tier: string, component: string, more = ""): string =>
  `{ tier: ${tier}, component: ${component}, cloudProvider: aws, region: us-east-1, config: { name: a, graphdbUser: app, graphdbPassword: "\${secret.pw}"${more} } }`;
const three = `instances:
  big: ${instance("enterprise", "single-zone", ", nodeInstanceType: m6i.large")}
  middle: ${instance("startup", "standalone")}
  small: ${instance("free", "free")}
users:
  one: { instance: big, username: reader, password: "\${secret.pw}", acl: "~* +PING" }
  two: { instance: middle, username: reader, password: "\${secret.pw}", acl: "~* +PING" }
`;

/** Subscription of each request, by what it is about. */
function carried({ cloud }: CloudBench): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const { url } of cloud.service.seen) {
    const [path = "", query = ""] = url.split("?");
    const id = path.split("/")[4] ?? "";
    const tier = path.startsWith("/v1/")
      ? `users of ${cloud.instances.find((entry) => entry.id === id)?.tier}`
      : /falkordb-(enterprise|pro|startup|free)-customer-hosted\/falkordb/.exec(path)?.[1];
    if (tier === undefined) continue;
    const given = new URLSearchParams(query).get("subscriptionId") ?? "(none)";
    found.set(tier, (found.get(tier) ?? new Set()).add(given));
  }
  return found;
}

describe("subscriptions by tier", () => {
  it("are looked up once in a run, and every request carries its own, those of users too", async () => {
    const bench = await cloudBench(three);
    const applied = await bench.gf("apply", "--auto-approve");
    expect([applied.code, applied.err]).toEqual([0, expect.anything()]);
    expect(Object.fromEntries(carried(bench))).toEqual({
      enterprise: new Set(["sub-enterprise"]),
      startup: new Set(["sub-startup"]),
      free: new Set(["sub-free"]),
      "users of enterprise": new Set(["sub-enterprise"]),
      "users of startup": new Set(["sub-startup"]),
    });
    expect(bench.cloud.service.to("/subscription").length).toBe(1);
    const plan = await bench.gf("plan", "--detailed-exitcode");
    expect([plan.code, plan.out]).toEqual([0, expect.stringContaining("No ")]);
    const state: { service: unknown } = JSON.parse(await bench.read("state.json"));
    expect(state.service).toMatchObject({
      subscriptions: { enterprise: "sub-enterprise", startup: "sub-startup", free: "sub-free" },
    });
    expect(JSON.stringify(state), "no address with credentials").not.toContain("@");
  });

  it("are told by tier, for everything, and by the environment, in that order from below", async () => {
    const bench = await cloudBench(
      `service: { subscriptionId: sub-all, subscriptions: { free: sub-own } }\n${three}`,
    );
    await bench.gf("plan");
    expect(Object.fromEntries(carried(bench))).toMatchObject({
      enterprise: new Set(["sub-all"]),
      free: new Set(["sub-own"]),
    });
    expect(bench.cloud.service.to("/subscription")).toEqual([]);
    const other = await cloudBench(`service: { subscriptions: { free: sub-own } }\n${three}`);
    other.env["GRAPHFORM_SUBSCRIPTION_ID"] = "sub-env";
    await other.gf("plan");
    expect(new Set([...carried(other).values()].flatMap((each) => [...each]))).toEqual(new Set(["sub-env"]));
  });

  it("of a tier without one: nothing is made, and the way out is said", async () => {
    const bench = await cloudBench(three);
    bench.cloud.subscriptions = [
      ...subscriptionsOf("enterprise", "free"),
      { ...subscriptionsOf("startup")[0], status: "SUSPENDED" },
    ];
    const refused = await bench.gf("apply", "--auto-approve");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("no active subscription is known for startup (instances.middle)");
    expect(refused.err).toContain("service.subscriptions.startup");
    expect(bench.cloud.instances).toEqual([]);
  });

  it("of a tier with several: asked about where that tier is used, and nowhere else", async () => {
    const bench = await cloudBench(three);
    const twice = { ...subscriptionsOf("pro")[0], id: "sub-other" };
    bench.cloud.subscriptions.push(twice);
    expect((await bench.gf("plan")).code).toBe(0);
    const invited = { ...subscriptionsOf("free")[0], id: "sub-invited", roleType: "editor" };
    bench.cloud.subscriptions.push(invited);
    expect((await bench.gf("plan")).code, "one's own comes first").toBe(0);
    bench.cloud.subscriptions.push({ ...invited, id: "sub-second", roleType: "root" });
    const refused = await bench.gf("plan");
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /the free tier has 2 active subscriptions: sub-free, sub-second[\s\S]*service\.subscriptions\.free/,
      ),
    });
  });

  it("of another customer: their state is refused", async () => {
    const bench = await cloudBench(three);
    expect((await bench.gf("apply", "--auto-approve")).code).toBe(0);
    bench.cloud.subscriptions = subscriptionsOf("startup", "enterprise", "free").map((entry) => ({
      ...entry,
      id: `${String(entry["id"])}-of-others`,
    }));
    const refused = await bench.gf("plan");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("subscription of startup sub-startup, now sub-startup-of-others");
  });

  it("refused to be looked up: said with what to name instead", async () => {
    const bench = await cloudBench(three);
    bench.cloud.meddle = ({ url }) =>
      url.includes("/subscription") ? { status: 403, body: { name: "forbidden", message: "no" } } : undefined;
    expect(await bench.gf("plan")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/subscriptions cannot be looked up[\s\S]*service\.subscriptions/),
    });
  });
});

describe("a service with one subscription for all tiers", () => {
  const desired = (address: string, kind: string, spec: Desired["spec"]): Desired => ({
    ...{ address, kind, spec, refs: [], timeouts: {}, where: () => somewhere },
    lifecycle: { onReplace: "refuse", onDelete: "delete", ignoreChanges: [], dependsOn: [] },
  });
  const big = desired("instances.big", "instances", { tier: "enterprise" });
  const one = desired("users.one", "users", { instance: "big", username: "reader" });
  const identity = { platform: "https://api.example.com", keys: {}, locations: {} };

  it("needs it for an instance in which users are declared, and for no other", async () => {
    const service = { profile: await loadProfile("default") };
    expect(service.profile.subscriptions).not.toBe("per-tier");
    expect(() => assertSubscribed([big], identity, service)).not.toThrow();
    expect(() => assertSubscribed([big, one], identity, service)).toThrow(
      "no active subscription is known for enterprise (instances.big), and what is declared inside needs one",
    );
    expect(() => assertSubscribed([big, one], { ...identity, subscription: "s-1" }, service)).not.toThrow();
  });
});
