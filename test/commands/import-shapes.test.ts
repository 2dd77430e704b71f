import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import type { Reply, Seen } from "../hosting/listen.ts";
import { type CloudBench, cloudBench } from "./cloud-bench.ts";

const params = (name: string, type: string): JsonObject => ({
  result_params: { name, nodeInstanceType: type, falkordbUser: "app" },
});

/** A few databases of two tiers and their users; `hide` is shown of none of them. */
function fill({ cloud }: CloudBench, hide: JsonObject = {}, count = 2): void {
  for (let at = 0; at < count; at += 1) {
    const [tier, type] =
      at % 2 === 0 ? (["pro", "x99.mega"] as const) : (["enterprise", "m6i.huge"] as const);
    const shown = { ...params(`cache ${at}`, type), ...hide };
    cloud.instances.push({ id: `instance-${at}`, tier, resource: "single-Zone", shown });
    cloud.users.set(`instance-${at}`, [{ username: "reader", acl: "~* +PING" }]);
  }
}

async function importAndPlan(bench: CloudBench, ...more: readonly string[]): Promise<string> {
  const [file, state] = [`${bench.folder}/all.yaml`, `${bench.folder}/all.json`];
  const ran = await bench.bare("import", "--all", "--out", file, "--state", state, ...more);
  expect(ran.code, ran.err).toBe(0);
  for (const form of [[], ["--json"]]) {
    const plan = await bench.bare("plan", "--detailed-exitcode", "-f", file, "--state", state, ...form);
    expect(plan.code, plan.out + plan.err).toBe(0);
  }
  const text = await bench.read("all.yaml");
  for (const [, what = ""] of ran.err.matchAll(/left out (instance[^:]*):/g))
    expect(text, "named in the file as well").toContain(`# Left out: ${what}`);
  return ran.err;
}

/** Requests about components and users that name no subscription. */
function nameless({ cloud }: CloudBench): readonly string[] {
  const about = cloud.service.seen.filter(({ url }) =>
    /falkordb-(pro|enterprise)-customer|customer-ldap/.test(url),
  );
  return about.map(({ url }) => url).filter((url) => !url.includes("subscriptionId="));
}

const catalogue =
  (reply: Reply) =>
  ({ url }: Seen) =>
    /service-offering$/.test(url) ? reply : undefined;
const gone = catalogue({ status: 404, body: { message: "no catalogue" } });
const refused =
  (path: RegExp, status: number) =>
  ({ url }: Seen): Reply | undefined =>
    path.test(url.split("?")[0] ?? "") ? { status, body: { message: "not yours" } } : undefined;
const either =
  (...all: readonly ((seen: Seen) => Reply | undefined)[]) =>
  (seen: Seen): Reply | undefined =>
    all.map((each) => each(seen)).find((reply) => reply !== undefined);

/** A plan's paths know its own subscription alone. */
const strict = ({ url }: Seen): Reply | undefined => {
  const tier = /falkordb-(pro|enterprise|startup|free)-customer-hosted\//.exec(url)?.[1];
  const asked = new URL(url, "http://x").searchParams.get("subscriptionId");
  return tier === undefined || asked === null || asked === `sub-${tier}`
    ? undefined
    : { status: 403, body: { message: "another subscription" } };
};

describe("import --all without a catalogue", () => {
  it.each<[string, Reply]>([
    ["404", { status: 404, body: { message: "no" } }],
    ["403", { status: 403, body: { message: "no" } }],
    ["500", { status: 500, body: { message: "no" } }],
    ["nothing", { body: {} }],
    ["null", { body: { services: null } }],
    ["an empty list", { body: { services: [] } }],
  ])("that answers %s", async (_, reply) => {
    for (const hide of [{}, { subscriptionId: null }]) {
      const bench = await cloudBench();
      fill(bench, hide);
      bench.cloud.meddle = either(catalogue(reply), strict);
      const err = await importAndPlan(bench, "--users");
      expect(err).toContain("2 resources written");
      expect(err).toMatch(/left out instances of startup: .*service\.subscriptions\.startup/);
      expect(nameless(bench)).toEqual([]);
      expect(await bench.read("all.yaml")).toContain("pro: sub-pro");
    }
  });

  it("names what no component lists", async () => {
    const bench = await cloudBench();
    fill(bench);
    bench.cloud.instances.push({ id: "instance-odd", tier: "pro", resource: "octopus" });
    bench.cloud.meddle = gone;
    expect(await importAndPlan(bench)).toMatch(/left out instance-odd: the service shows no plans/);
  });

  it.each<[string, RegExp]>([
    ["subscriptions", /\/subscription$/],
    ["subscriptions and everything at once", /\/subscription$|\/resource-instance$/],
  ])("and without %s, by what the databases show", async (_, path) => {
    const bench = await cloudBench();
    fill(bench);
    bench.cloud.meddle = either(gone, refused(path, 403));
    expect(await importAndPlan(bench)).toContain("2 resources written");
  });

  const everything =
    (reply: Reply) =>
    ({ url }: Seen) =>
      /\/resource-instance(\?|$)/.test(url) ? reply : undefined;

  it.each<[string, Reply]>([
    ["nothing", { body: {} }],
    ["null", { body: { resourceInstances: null } }],
    ["an empty list", { body: { resourceInstances: [] } }],
  ])("and where the list of everything answers %s, by the lists of components", async (_, reply) => {
    const bench = await cloudBench();
    fill(bench);
    bench.cloud.meddle = either(gone, strict, everything(reply));
    const err = await importAndPlan(bench, "--users");
    expect(err).toContain("2 resources written");
    expect(err).toContain("left out instances of components that the profile does not name: the list of");
  });

  it("says what the refused list of everything may hide, with the reason", async () => {
    const bench = await cloudBench();
    fill(bench);
    bench.cloud.instances.push({ id: "instance-odd", tier: "pro", resource: "octopus" });
    bench.cloud.meddle = refused(/\/resource-instance$/, 403);
    const err = await importAndPlan(bench);
    expect(err).toMatch(/left out instances of components that the profile does not name: .*\(403\)/);
  });

  it("finds beyond a list of everything that was cut what the components list", async () => {
    const bench = await cloudBench();
    fill(bench);
    const [first] = bench.cloud.instances;
    const shown = { id: first?.id, status: "RUNNING", resourceID: "r-pro-single-Zone" };
    bench.cloud.meddle = everything({ body: { resourceInstances: [shown], nextPageToken: "2" } });
    const err = await importAndPlan(bench);
    expect(err).toContain("2 resources written");
    expect(err).toMatch(/left out instances of components that .* possibly more than it lists/);
  });

  it("says what to add where any subscription would do", async () => {
    const bench = await cloudBench();
    fill(bench, { subscriptionId: null });
    bench.cloud.meddle = gone;
    const err = await importAndPlan(bench);
    expect(err).toMatch(/left out instances of pro: the pro tier has 5 active.*service\.subscriptions\.pro/);
    await bench.manifest("service: { subscriptions: { pro: sub-pro, enterprise: sub-enterprise } }\n");
    const told = await bench.gf("import", "--all");
    expect(told).toMatchObject({ code: 0, err: expect.stringContaining("2 resources written") });
  });

  it("says what to add where nothing tells a subscription", async () => {
    const bench = await cloudBench();
    fill(bench, { subscriptionId: null });
    bench.cloud.meddle = either(gone, refused(/\/subscription$/, 403));
    const ran = await bench.bare("import", "--all");
    expect(ran).toMatchObject({
      code: 1,
      err: expect.stringMatching(/cannot be looked up[\s\S]*service\.subscriptions/),
    });
  });
});

describe("import --all where a part is refused", () => {
  const pro = /falkordb-pro-customer-hosted\//;
  it.each([403, 404, 401, 500])("a tier with %i: the rest is there", async (status) => {
    const bench = await cloudBench();
    fill(bench);
    bench.cloud.meddle = refused(pro, status);
    expect(await importAndPlan(bench)).toMatch(/left out instance-0: [\s\S]*1 resource written/);
  });

  it.each([403, 404, 500])("one database with %i: the rest is there", async (status) => {
    const bench = await cloudBench();
    fill(bench);
    bench.cloud.meddle = refused(/\/instance-0$/, status);
    expect(await importAndPlan(bench)).toMatch(/left out instance-0: [\s\S]*1 resource written/);
  });

  it("databases without a resource, and lists that show little of them, are looked at in their places", async () => {
    const bench = await cloudBench();
    fill(bench);
    bench.cloud.meddle = ({ url }) =>
      /\/resource-instance(\?|$)/.test(url)
        ? { body: { resourceInstances: bench.cloud.instances.map(({ id }) => ({ id, status: "RUNNING" })) } }
        : undefined;
    expect(await importAndPlan(bench, "--users")).toContain("2 resources written");
    expect(nameless(bench)).toEqual([]);
  });

  it("the first user of a database is that of the database, and nothing to declare", async () => {
    const bench = await cloudBench();
    fill(bench);
    bench.cloud.users.set("instance-0", [{ username: "app", acl: "~* +@all" }]);
    const err = await importAndPlan(bench, "--users");
    expect(err).toContain("2 resources written");
    const text = await bench.read("all.yaml");
    expect(text).toContain("reader");
    expect(text).not.toContain("username: app");
  });

  it("all of it together, among 200", async () => {
    const bench = await cloudBench();
    fill(bench, { subscriptionId: null }, 200);
    bench.cloud.instances.push(
      { id: "instance-odd", tier: "enterprise", resource: "octopus", shown: { subscriptionId: null } },
      { id: "instance-startup", tier: "startup", resource: "standalone", shown: params("small", "x") },
    );
    bench.cloud.meddle = either(
      gone,
      strict,
      refused(/falkordb-startup-customer-hosted\//, 403),
      refused(/\/instance-7$/, 500),
    );
    const err = await importAndPlan(bench);
    expect(err).toContain("199 resources written");
    for (const id of ["instance-7", "instance-odd", "instance-startup"])
      expect(err).toContain(`left out ${id}:`);
  });
});
