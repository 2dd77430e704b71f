import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { components, pro } from "../platform/harness.ts";
import { type Bench, startBench } from "./harness.ts";

const manifest = `apiVersion: graphform/v1
name: one
instances:
  orders: { tier: pro, component: standalone, cloudProvider: aws, region: us-east-1, networkType: INTERNAL, config: { name: orders } }
  other: { tier: pro, component: standalone, cloudProvider: aws, region: eu-west-1 }
`;
const secret = "never-to-be-written";
const config = { nodeInstanceType: "m7g.large", graphdbUser: "app", graphdbPassword: secret };

describe("import --all", () => {
  let bench: Bench;

  beforeAll(async () => {
    bench = await startBench(manifest, {
      echo: true,
      networkSeeds: [{ id: "n-1", name: "core", cloudProvider: "aws", region: "us-east-1" }],
    });
    const odd = ["Twin", "twin", "${var.x} \u001b[31m", "1. Größe: 50 %", "yes"];
    const names = [...odd, ...Array.from({ length: 195 }, (_, at) => `cache ${at}`)];
    await Promise.all(
      names.map((name) =>
        bench.test.create(pro, { ...config, name, graphDBCacheSize: 100, graphDBMaxQueuedQueries: 50 }),
      ),
    );
    await bench.test.create(
      `${components}/hosted/enterprise/standalone`,
      { ...config, name: "netted" },
      { custom_network_id: "n-1", network_type: "INTERNAL" },
    );
    await bench.test.create(`${components}/hosted/free/free`, {
      graphdbUser: "app",
      graphdbPassword: secret,
      name: "small",
    });
  });
  afterAll(() => bench.close());

  it("writes 202 instances and their network, binds them, and the next plan is empty", async () => {
    const out = `${bench.folder}/all.yaml`;
    const state = ["--state", `${bench.folder}/all.json`];
    const ran = await bench.bare("import", "--all", "--name", "all", "--out", out, ...state);
    expect([ran.code, ran.err]).toEqual([0, expect.stringContaining("203 resources written")]);
    const text = await readFile(out, "utf8");
    expect(text).toContain("  twin:\n");
    expect(text).toContain("  twin-2:\n");
    expect(text).toMatch(/# not shown by the service: .*graphdbPassword/);
    expect(text).toContain('name: "$${var.x} \\u001b[31m"');
    expect(text).toMatch(/network: core\n/);
    expect(text, "the default of the service is left out").not.toContain("graphDBMaxQueuedQueries: 50");
    expect(text, "echoed text gets its type back").toContain("graphDBCacheSize: 100");
    expect(text + (await readFile(`${bench.folder}/all.json`, "utf8"))).not.toContain(secret);
    expect((await bench.bare("validate", "-f", out)).code).toBe(0);
    const plan = await bench.bare("plan", "--detailed-exitcode", "-f", out, ...state);
    expect([plan.code, plan.out]).toEqual([0, expect.stringContaining("203 declared, 203 checked")]);
    expect(await bench.bare("import", "--all", "--out", out)).toMatchObject({
      code: 1,
      err: expect.stringContaining("not overwritten"),
    });
  });

  it("on standard output binds nothing: the manifest's own imports do, and change no field", async () => {
    const { code, out } = await bench.bare("import", "--all", "--name", "printed");
    expect(code).toBe(0);
    const file = await bench.write("printed.yaml", out);
    const plan = await bench.bare("plan", "--json", "-f", file, "--state", `${bench.folder}/printed.json`);
    const changes: { change: { actions: string[] } }[] = JSON.parse(plan.out).resource_changes;
    expect(changes.length).toBe(203);
    expect(changes.filter(({ change }) => change.actions.join() !== "no-op")).toEqual([]);
  });
});

describe("import ADDRESS ID", () => {
  let bench: Bench;
  let id = "";

  beforeAll(async () => {
    bench = await startBench(manifest, { echo: true });
    id = await bench.test.create(pro, { ...config, name: "orders" });
  });
  afterAll(() => bench.close());

  it.each([
    [["instances.orders", "instance-none"], 1, "there is no instance-none"],
    [["instances.oders", "x"], 3, "did you mean instances.orders?"],
    [["instances.orders"], 1, "needs an address and an id"],
  ])("%j is refused", async (args, code, message) => {
    expect(await bench.gf("import", ...args)).toMatchObject({ code, err: expect.stringContaining(message) });
  });

  it("binds what exists, once, and says what differs", async () => {
    expect(await bench.gf("import", "instances.orders", id)).toMatchObject({
      code: 0,
      err: expect.stringContaining("networkType"),
    });
    expect(await bench.gf("import", "instances.orders", id)).toMatchObject({
      code: 1,
      err: expect.stringContaining("is bound to"),
    });
    expect(await bench.gf("import", "instances.other", id)).toMatchObject({
      code: 1,
      err: expect.stringContaining("is bound to instances.orders already"),
    });
    const { out } = await bench.gf("plan", "--target", "instances.orders");
    expect(out).toMatch(/networkType +"PUBLIC" → "INTERNAL"/);
    expect(out).not.toContain("outside");
  });
});
