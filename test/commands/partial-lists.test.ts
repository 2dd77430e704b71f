import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { driftSchema } from "../../scripts/report-schemas.ts";
import type { Reply, Seen } from "../hosting/listen.ts";
import { type CloudBench, cloudBench } from "./cloud-bench.ts";

const manifest = `instances:
  one:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: one, graphdbUser: app, graphdbPassword: "\${secret.pw}" }
users:
  reader: { instance: one, username: reader, password: "\${secret.pw}", acl: "~* +PING" }
`;
const words = /possibly more than the service lists: instances of free free; what it leaves out may be there/;

/** Lists of components say that there is more. */
const cutLists = ({ cloud }: CloudBench, { method, url }: Seen): Reply | undefined =>
  method === "GET" && /multi-tenancy\/free(\?|$)/.test(url)
    ? { body: { ids: cloud.instances.map(({ id }) => id), nextPageToken: "2" } }
    : undefined;

const plain = (text: string): string => text.replace(/\s+/g, " ");

async function applied(): Promise<CloudBench> {
  const bench = await cloudBench(manifest);
  const ran = await bench.gf("apply", "--auto-approve");
  expect(ran.code, ran.out + ran.err).toBe(0);
  return bench;
}

describe("a list that is not all", () => {
  it("is named by plans and drift, in every form", async () => {
    const bench = await applied();
    bench.cloud.meddle = (seen) => cutLists(bench, seen);
    const plan = await bench.gf("plan", "--detailed-exitcode", "--markdown", `${bench.folder}/plan.md`);
    expect(plan.code, plan.err).toBe(0);
    expect(plain(plan.out)).toMatch(words);
    expect(plain(plan.out)).toMatch(/0 unmanaged, possibly more/);
    expect(plan.out).toContain("No differences found in what was checked");
    expect(plain(await bench.read("plan.md"))).toMatch(words);
    const json = JSON.parse((await bench.gf("plan", "--json")).out);
    expect(json).toMatchObject({
      complete: false,
      x_graphform: { census: { partial_lists: ["instances of free free"] } },
    });
    await bench.gf("plan", "--html", `${bench.folder}/plan.html`);
    expect(plain(await bench.read("plan.html"))).toMatch(words);
    const drift = await bench.gf("drift");
    expect(drift.code, drift.err).toBe(0);
    expect(plain(drift.out)).toMatch(words);
    const [sarif, junit] = [`${bench.folder}/d.sarif`, `${bench.folder}/d.xml`];
    await bench.gf("drift", "--sarif", sarif, "--junit", junit);
    expect(plain(await bench.read("d.sarif"))).toMatch(
      /instances of free free: the service has possibly more/,
    );
    expect(plain(await bench.read("d.xml"))).toMatch(/instances of free free.*skipped.*possibly more/);
    const report = JSON.parse((await bench.gf("drift", "--json")).out);
    expect(report).toMatchObject({ complete: false, census: { partial_lists: ["instances of free free"] } });
    expect(new Ajv({ strict: false }).compile(driftSchema)(report)).toBe(true);
  });

  it("is nothing to tell of where all pages are read", async () => {
    const bench = await applied();
    expect((await bench.gf("plan")).out).not.toContain("possibly more");
    expect(JSON.parse((await bench.gf("plan", "--json")).out)).toMatchObject({ complete: true });
  });

  it("takes no user for gone that it leaves out", async () => {
    const bench = await applied();
    bench.cloud.meddle = ({ method, url }) =>
      method === "GET" && url.includes("/customer-ldap/")
        ? { body: { users: [], nextPageToken: "2" } }
        : undefined;
    const plan = await bench.gf("plan", "--detailed-exitcode");
    expect(plan.code, plan.out + plan.err).toBe(0);
    expect(plain(plan.out)).toContain("users of instance-1 reader");
    bench.cloud.meddle = ({ method, url }) =>
      method === "GET" && url.includes("/customer-ldap/") ? { body: { users: [] } } : undefined;
    expect((await bench.gf("plan", "--detailed-exitcode")).code).toBe(2);
  });

  it("does not let a tier pass for one without a subscription", async () => {
    const bench = await cloudBench(manifest);
    bench.cloud.meddle = ({ url }) =>
      /\/subscription(\?|$)/.test(url)
        ? {
            body: {
              subscriptions: [{ id: "sub-pro", status: "ACTIVE", productTierId: "pt-pro" }],
              nextPageToken: "2",
            },
          }
        : undefined;
    const ran = await bench.gf("plan");
    expect(ran.code).toBe(1);
    expect(plain(ran.err)).toMatch(/shows only a part of its plans or subscriptions.*service\.subscriptions/);
  });
});
