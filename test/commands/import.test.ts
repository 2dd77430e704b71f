import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/model/clock.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { createFileStore } from "../../src/state/file-store.ts";
import { basic, components, pro } from "../platform/harness.ts";
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

  it("leaves neither file nor bindings where it fails", async () => {
    const out = `${bench.folder}/failed.yaml`;
    const state = `${bench.folder}/all.json`;
    const before = await readFile(state, "utf8");
    // Its state binds resources already: that is found before anything is written.
    const used = await bench.bare("import", "--all", "--name", "all", "--out", out, "--state", state);
    expect(used).toMatchObject({ code: 1, err: expect.stringContaining("binds resources already") });
    await expect(readFile(out, "utf8")).rejects.toThrow();
    expect(await readFile(state, "utf8")).toBe(before);
    const held = createFileStore({ path: `${bench.folder}/held.json` });
    const lock = await held.lock("apply", { clock: systemClock });
    const locked = await bench.bare("import", "--all", "--name", "all", "--out", out, "--state", held.where);
    await lock.release();
    expect(locked).toMatchObject({ code: 5, err: expect.stringContaining("is locked") });
    await expect(readFile(out, "utf8")).rejects.toThrow();
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

describe("import --all --out at a service that fails", () => {
  it("leaves neither file nor bindings, whichever look it is that fails", async () => {
    const bench = await startBench(manifest, { echo: true });
    const names = ["one", "two"];
    for (const name of names)
      await bench.test.until(`${pro}/${await bench.test.create(pro, { ...config, name })}`, "RUNNING");
    const faults = (...rules: readonly JsonObject[]): Promise<{ readonly status: number }> =>
      bench.test.bare("PUT", "/_platform/faults", { rules }, basic(bench.test.username, bench.test.password));
    const failed: number[] = [];
    for (let after = 0, code = 1; code !== 0; after += 1) {
      const out = join(bench.folder, `${after}.yaml`);
      const state = join(bench.folder, `${after}.json`);
      expect((await faults({ operation: "describe", after, fault: { status: 400 } })).status).toBe(200);
      const ran = await bench.bare("import", "--all", "--name", "all", "--out", out, "--state", state);
      code = ran.code;
      const bound = existsSync(state) ? Object.keys(JSON.parse(readFileSync(state, "utf8")).resources) : [];
      expect([after, existsSync(out), bound.length], ran.err).toEqual([
        after,
        code === 0,
        code === 0 ? 2 : 0,
      ]);
      if (code !== 0) failed.push(after);
      await faults();
    }
    // Discovery, and the looks before and after binding, of which the first is the proof: two resources each.
    expect(failed.length).toBeGreaterThanOrEqual(6);
    // What this customer may not look at is no failure: it is left out, and named.
    const out = join(bench.folder, "less.yaml");
    await faults({ operation: "describe", fault: { status: 403 } });
    const less = await bench.bare("import", "--all", "--name", "all", "--out", out, "--state", `${out}.json`);
    expect(less).toMatchObject({ code: 0, err: expect.stringMatching(/left out instance-\S+: /) });
    expect(readFileSync(out, "utf8")).toMatch(/left out|instance-/);
    await bench.close();
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
    [["--all", "instances.orders", "x"], 1, "--all takes no address"],
    [["instances.orders", "x", "--out", "y.yaml"], 1, "--out needs --all"],
    [["instances.orders", "x", "--target", "instances.orders"], 1, ""],
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
    expect((await bench.gf("state", "rm", "instances.orders")).code).toBe(0);
    const again = await bench.gf("import", "instances.orders", id);
    expect(again.err).toBe("Bound. 1 field differs from the manifest: networkType; see graphform plan.\n");
    const { out } = await bench.gf("plan", "--target", "instances.orders");
    expect(out).toMatch(/networkType +"PUBLIC" → "INTERNAL"/);
    expect(out).not.toContain("outside");
  });
});

describe("import of what the service does not show", () => {
  it("names what it took from the file, and plans count it as not checked", async () => {
    const wrong = `apiVersion: graphform/v1
name: hidden
instances:
  orders:
    tier: pro
    component: standalone
    cloudProvider: aws
    region: us-east-1
    config: { nodeInstanceType: r7g.large, graphDBCacheSize: 7, graphdbPassword: "\${env.PW}" }
`;
    const bench = await startBench(wrong, { echo: false });
    const id = await bench.test.create(pro, config);
    await bench.test.until(`${pro}/${id}`, "RUNNING");
    const { code, err } = await bench.gf("import", "instances.orders", id);
    expect([code, err]).toEqual([
      0,
      "Bound. Not shown by the service, taken from your file: nodeInstanceType, graphDBCacheSize, graphdbPassword.\n",
    ]);
    const { out } = await bench.gf("plan", "--no-probe");
    expect(out).toMatch(
      /No differences found\. \d+ of \d+ values are as last applied or imported and were not checked\./,
    );
    expect(`${err}${out}`).not.toMatch(/as (it is )?declared|What runs/);
    await bench.close();
  });
});
