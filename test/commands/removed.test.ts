import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPlan } from "../support/plan-document.ts";
import { type Bench, startBench } from "./harness.ts";

const body = `tier: free, component: free, cloudProvider: aws, region: us-east-1,
    config: { name: cache, graphdbUser: app, graphdbPassword: "\${env.PW}" }`;

/** A manifest with a database that stays, and what else it says. */
function manifest(more: string): string {
  return `apiVersion: graphform/v1
name: let-go
instances:
  orders: { ${body} }
${more}`;
}

describe("an entry of `removed` that names no bound address", () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await startBench(manifest(`  cache: { forEach: [x, y], ${body} }\n`));
    expect(await bench.gf("apply", "--auto-approve")).toMatchObject({ code: 0 });
  });
  afterAll(() => bench.close());

  const write = (address: string): Promise<unknown> =>
    bench.write("graphform.yaml", manifest(`removed:\n  - { address: '${address}', destroy: false }\n`));

  it.each([
    ["another key of its forEach", 'instances.cache["xx"]'],
    ["no key of its forEach", 'instances.cache[""]'],
  ])("is an error at its line if it is %s, since what it means would be deleted", async (_, address) => {
    await write(address);
    for (const command of [["plan"], ["apply", "--auto-approve"], ["drift"]]) {
      const { code, out, err } = await bench.gf(...command);
      expect([code, out + err]).toEqual([
        3,
        expect.stringMatching(/graphform\.yaml:7:\d+: error: removed names/),
      ]);
      expect(out + err).toContain("that would be deleted");
    }
  });

  it("is named by the deletion of what it may mean, if its name is nearly that", async () => {
    await write("instances.cachee");
    const near = await bench.gf("plan", "--no-probe");
    expect([near.code, near.out.replace(/\s+/g, " ")]).toEqual([
      0,
      expect.stringContaining("no longer declared; removed names instances.cachee, which is not there"),
    ]);
    await write("instances.blog");
    expect((await bench.gf("plan", "--no-probe")).out).not.toContain("removed names");
  });

  it("lets all members of a forEach go if it is the name without a key, and stays without effect", async () => {
    await write("instances.cache");
    const { resource_changes: changes } = readPlan((await bench.gf("plan", "--json")).out);
    const actions = changes.map(({ address, change }) => `${address} ${change.actions.join(" ")}`);
    expect(actions.filter((action) => action.includes("cache"))).toEqual([
      'instances.cache["x"] forget',
      'instances.cache["y"] forget',
    ]);
    expect(await bench.gf("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect(await bench.gf("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
  });
});
