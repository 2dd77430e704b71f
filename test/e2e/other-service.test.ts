import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OtherService, otherCredentials, startOther } from "../support/other-service.ts";
import { actionsIn, readPlan } from "../support/plan-document.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

let user: Workspace;
let other: OtherService;

const profile = new URL("../support/other-profile.yaml", import.meta.url).pathname;
const apply = ["apply", "--auto-approve"] as const;

beforeAll(async () => {
  other = await startOther();
  user = openWorkspace();
  Object.assign(user.env, otherCredentials, { PHRASE: "a-phrase-of-ours" });
  copyFileSync(profile, join(user.dir, "other.yaml"));
  write({ note: "first words", cache: 10 });
});
afterAll(async () => {
  await user.close();
  await other.close();
});

/** Twenty databases of every tier, a network, an account and a user. */
function write({ note, cache }: { readonly note: string; readonly cache: number }): void {
  user.write(
    "graphform.yaml",
    `
apiVersion: graphform/v1
name: other
service: { profile: other.yaml, platformUrl: "${other.url}", subscriptionId: acc-1 }
secrets: { phrase: { env: PHRASE } }
defaults:
  instances: { cloudProvider: aws, region: north-7, lifecycle: { protect: false } }
cloudAccounts:
  own:
    cloudProvider: aws
    config: { aws_account_id: "123456789012", aws_bootstrap_role_arn: "arn:aws:iam::123456789012:role/x", account_configuration_method: Terraform }
networks:
  core: { name: core, cloudProvider: aws, region: north-7, cidr: 10.8.0.0/16 }
instances:
  vault:
    tier: enterprise-byoa
    component: standalone
    cloudAccount: own
    config: { name: vault, graphdbUser: app, graphdbPassword: "\${secret.phrase}" }
  orders:
    tier: enterprise
    component: single-zone
    network: core
    config: { name: orders, nodeInstanceType: iron, maxMemory: 2GB, graphdbUser: app, graphdbPassword: "\${secret.phrase}", graphDBCacheSize: ${cache} }
  shard:
    forEach: [a, b, c, d, e, f]
    tier: pro
    component: standalone
    config: { name: "shard-\${each.key}", description: "${note}", nodeInstanceType: tin, graphdbUser: app, graphdbPassword: "\${secret.phrase}" }
  small:
    forEach: [a, b, c, d, e, f]
    tier: startup
    component: standalone
    config: { name: "small-\${each.key}", memoryRequestsAndLimits: 1200M, graphdbUser: app, graphdbPassword: "\${secret.phrase}" }
  tiny:
    forEach: [a, b, c, d, e, f]
    tier: free
    component: free
    config: { name: "tiny-\${each.key}", graphdbUser: app, graphdbPassword: "\${secret.phrase}" }
users:
  reader: { instance: orders, username: me, password: "\${secret.phrase}", acl: "~* +PING" }
outputs:
  orders: \${instances.orders.endpoint}
  account: \${cloudAccounts.own.configId}
`,
  );
}

function idOf(address: string): string {
  return user.state("other").resources[address]?.id ?? "";
}

describe("a service with other paths, cookies, parameters and words, by its profile alone", () => {
  it("is planned without a write", async () => {
    const planned = readPlan((await user.run("plan", "--json")).out);
    expect(Object.values(actionsIn(planned))).toEqual(Array.from({ length: 23 }, () => ["create"]));
    expect(other.writes()).toEqual([]);
    expect(other.strays).toEqual([]);
  });

  it("waits for a person in its own words", async () => {
    const ran = await user.run(...apply);
    expect(ran).toMatchObject({
      code: 8,
      out: expect.stringMatching(/waits for a person: the bootstrap[\s\S]*press the green\s+button/),
    });
    const [link] = other.things("links");
    expect(link?.values).toEqual({ cloud: "aws" });
    expect(link?.options).toEqual({
      ...{
        cloud: "aws",
        accountNumber: "123456789012",
        role: "arn:aws:iam::123456789012:role/x",
        how: "Terraform",
      },
    });
    const shelves = ["big.two", "mid.one", "small.one", "tiny.one", "nets"];
    expect(shelves.map((shelf) => other.things(shelf).length)).toEqual([1, 6, 6, 6, 1]);
  });

  it("is applied: twenty databases and what belongs to them, and nothing is left to do", async () => {
    const [link] = other.things("links");
    if (link !== undefined) link.state = "LIVE";
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
    const vault = other.things("yours.one")[0];
    expect(vault?.options["linkHandle"]).toBe(`handle-${link?.uid}`);
    const [orders] = other.things("big.two");
    expect(orders?.values).toEqual({ cloud: "aws", zone: "north-7", net: idOf("networks.core") });
    expect(orders?.options).toEqual({
      ...{
        title: "orders",
        machine: "iron",
        ceiling: "2GB",
        firstPerson: "app",
        firstPhrase: "a-phrase-of-ours",
        planCache: 10,
      },
    });
    expect(other.people(idOf("instances.orders"))).toContainEqual({ who: "me", may: "~* +PING" });
    expect((await user.run("output", "orders", "--raw")).out).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  it("is updated in place, where it can be, although it is busy at first", async () => {
    write({ note: "second words", cache: 10 });
    const [busy] = other.things("mid.one");
    if (busy !== undefined) busy.busy = 8;
    other.forget();
    expect(await user.run(...apply)).toMatchObject({
      code: 0,
      out: expect.stringContaining("0 added, 6 changed, 0 destroyed"),
    });
    const changes = other.requests.filter(({ url }) => url.includes("/change"));
    expect(changes).toHaveLength(14);
    expect(new Set(changes.map(({ text }) => text))).toEqual(
      new Set(['{"options":{"note":"second words"}}']),
    );
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
  });

  it("counts what nobody declares, from lists in its own shape", async () => {
    other.put("mid.one");
    const { census } = readPlan((await user.run("plan", "--json")).out).x_graphform;
    // Somebody else's database; the first user of the orders came with them.
    expect(census).toMatchObject({ declared: 23, checked: 23, unmanaged: 1 });
  });

  it("shows what somebody changed, and what cannot be changed in place", async () => {
    const [orders] = other.things("big.two");
    if (orders !== undefined) orders.options = { ...orders.options, planCache: 11 };
    const drifted = readPlan((await user.run("plan", "--json")).out);
    expect(actionsIn(drifted)).toEqual({ "instances.orders": ["delete", "create"] });
    expect(drifted.resource_drift.map(({ address }) => address)).toEqual(["instances.orders"]);
    if (orders !== undefined) orders.options = { ...orders.options, planCache: 10 };
  });

  it("is stopped and started again", async () => {
    const stopped = user
      .read("graphform.yaml")
      .replace("    component: single-zone\n", "    component: single-zone\n    power: stopped\n");
    user.write("graphform.yaml", stopped);
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect(other.things("big.two").map(({ state }) => state)).toEqual(["ASLEEP"]);
    write({ note: "second words", cache: 10 });
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect(other.things("big.two").map(({ state }) => state)).toEqual(["LIVE"]);
  });

  it("shows users whose rules hold a password, and none of it is repeated or kept", async () => {
    const orders = idOf("instances.orders");
    other.invite(orders, "guest", "on ~* >hunter2 '#hunter3 x' +PING");
    const imported = await user.run(
      "import",
      "--all",
      "--users",
      "--out",
      "imported.yaml",
      "--state",
      "imported.json",
    );
    expect(imported).toMatchObject({ code: 0 });
    expect(user.read("imported.yaml")).toContain('acl: "on ~* *** *** +PING"');
    const declared = user.read("graphform.yaml");
    user.write(
      "graphform.yaml",
      declared.replace(
        "outputs:",
        `  guest: { instance: orders, username: guest, password: "\${secret.phrase}", acl: "~* +PING" }\noutputs:`,
      ),
    );
    const bound = await user.run("import", "users.guest", `${orders}/guest`);
    const planned = await user.run("plan", "--out", "saved.plan");
    const json = await user.run("plan", "--json");
    expect(actionsIn(readPlan(json.out))).toEqual({ "users.guest": ["update"] });
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect(other.people(orders)).toContainEqual({ who: "guest", may: "~* +PING" });
    const said = [imported, bound, planned, json].map(({ out, err }) => out + err);
    const kept = user.files().map((file) => user.read(file));
    expect([...said, ...kept].filter((text) => /hunter[23]/.test(text))).toEqual([]);
    user.write("graphform.yaml", declared);
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
  });

  it("is destroyed, and nothing is left of it there", async () => {
    expect(await user.run("destroy", "--auto-approve")).toMatchObject({ code: 0 });
    expect(user.state("other")).toMatchObject({ resources: {}, intents: {} });
    const shelves = ["yours.one", "big.two", "mid.one", "small.one", "tiny.one", "nets", "links"];
    // Somebody else's is left alone.
    expect(shelves.flatMap((shelf) => other.things(shelf))).toMatchObject([
      { shelf: "mid.one", options: {} },
    ]);
  });

  it("never heard a word of the default profile's, nor was asked for anything that it does not have", () => {
    expect(other.strays).toEqual([]);
    const said = other.requests.map((request) => JSON.stringify(request)).join("\n");
    const foreign =
      /svc_token|2022-09-01|requestParams|cloud_provider|graphdb|nodeInstanceType|resource-instance|subscriptionId|customer-ldap/i;
    expect(said.match(foreign)).toBeNull();
    // Two hosts, one session: a cookie for the one, a bearer token for the other.
    const people = other.requests.filter(({ url }) => url.includes("/people/"));
    expect(
      people.every(({ authorization, cookie }) => authorization.startsWith("Bearer ") && cookie === ""),
    ).toBe(true);
  });
});
