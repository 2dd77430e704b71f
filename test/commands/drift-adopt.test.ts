import { chmod, lstat, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adoptedFields, isAsDeclared, leftOutText } from "../../src/commands/drift/adopt.ts";
import { kinds } from "../../src/kinds/index.ts";
import type { DriftReport, ResourceDrift } from "../../src/model/drift.ts";
import { isObject, type JsonObject } from "../../src/model/json.ts";
import type { Manifest } from "../../src/model/manifest.ts";
import { pro } from "../platform/harness.ts";
import { name, orders, whole } from "../report/drift-parts.ts";
import { quickProfile } from "../support/quick-profile.ts";
import { type Bench, type Ran, startBench } from "./harness.ts";

/** A manifest as a person has written it: comments, columns, quotes, two files, one of them from Windows. */
const base = `# The shop's databases. Ask the graph team before you touch this.
apiVersion: graphform/v1
name: adopted

variables:
  text: { type: string, default: 'of all' }

defaults:
  instances: { cloudProvider: aws, region: us-east-1, lifecycle: { protect: false } }

instances:
    orders:                      # the orders
        tier:      pro
        component: standalone
        config:
            "name":        'orders'          # as on the invoice
            nodeInstanceType: m7g.large
            graphdbUser: app
            graphdbPassword: "\${env.PW}"

    # two of a kind
    cache: { tier: free, component: free, forEach: [eu, us],
             config: { graphdbUser: app, graphdbPassword: "\${env.PW}", name: cache } }
    said:
        tier: free
        component: free
        config: { graphdbUser: app, graphdbPassword: "\${env.PW}", description: "\${var.text}" }
`;
const upper = `instances:
  orders:
    config:
      description: >-   # folded
        the order
        graph
    # until spring
    power: running
`.replaceAll("\n", "\r\n");

describe("drift --adopt", () => {
  let bench: Bench;
  const files = { base: "", upper: "", profile: "" };

  beforeAll(async () => {
    bench = await startBench(base, { echo: true });
    files.base = join(bench.folder, "graphform.yaml");
    files.upper = await bench.write("upper.yaml", upper);
    files.profile = await bench.write("quick.yaml", quickProfile);
    const applied = await gf("apply", "--auto-approve");
    expect(applied.code, applied.err).toBe(0);
  });
  afterAll(() => bench.close());

  const gf = (...args: readonly string[]): Promise<Ran> =>
    bench.bare(
      ...[...args, "-f", files.base, "-f", files.upper, "--profile", files.profile],
      ...["--state", join(bench.folder, "state.json")],
    );
  const texts = async (): Promise<readonly string[]> => [
    await readFile(files.base, "utf8"),
    await readFile(files.upper, "utf8"),
  ];

  async function pathOf(address: string): Promise<string> {
    const { resources } = await bench.state();
    const bound = isObject(resources) ? resources[address] : undefined;
    const id = isObject(bound) ? String(bound["id"]) : "";
    return `${address.includes("orders") ? pro : pro.replace("pro/standalone", "free/free")}/${id}`;
  }

  async function update(address: string, requestParams: JsonObject): Promise<void> {
    const path = await pathOf(address);
    expect((await bench.test.call("PUT", path, { requestParams })).status).toBe(202);
    await bench.test.until(path, "RUNNING");
  }

  it("changes the values alone, each in the file that holds it, and then there is no drift", async () => {
    await update("instances.orders", { name: "renamed", description: "changed: by hand" });
    expect((await gf("drift")).code).toBe(2);
    await chmod(files.base, 0o644);
    const before = await bench.state();
    const { code, out, err } = await gf("drift", "--adopt", "instances.orders");
    expect([code, err]).toEqual([0, "2 values written to 2 files; no drift is left.\n"]);
    expect(await texts()).toEqual([
      base.replace("'orders'", "'renamed'"),
      upper.replace("the order\r\n        graph", "changed: by hand"),
    ]);
    expect(out).toBe(
      [
        `${files.upper}:5`,
        "-         the order",
        "-         graph",
        "+         changed: by hand",
        "",
        `${files.base}:16`,
        `-             "name":        'orders'`,
        `+             "name":        'renamed'`,
        "",
      ].join("\n"),
    );
    expect((await stat(files.base)).mode & 0o777).toBe(0o644);
    expect(await bench.state()).toEqual(before);
    expect((await gf("drift")).code).toBe(0);
    expect((await gf("plan", "--detailed-exitcode")).code).toBe(0);
    const again = await gf("drift", "--adopt", "instances.orders");
    expect([again.code, again.out, again.err]).toEqual([0, "", expect.stringContaining("nothing to adopt")]);
  });

  it("adopts one field, and leaves the others as they are", async () => {
    await update("instances.orders", { name: "first", description: "second" });
    const [old] = await texts();
    const { code, err } = await gf("drift", "--adopt", "instances.orders.config.description");
    expect([code, err]).toEqual([0, "1 value written to 1 file; 1 resource still changed outside.\n"]);
    expect((await texts())[0]).toBe(old);
    expect((await gf("drift", "--adopt", "instances.orders.config.name")).code).toBe(0);
    expect((await gf("drift")).code).toBe(0);
  });

  it("adds a key that its block does not have", async () => {
    const path = await pathOf("instances.said");
    await bench.test.call("POST", `${path}/stop`);
    await bench.test.until(path, "STOPPED");
    const [old = ""] = await texts();
    expect((await gf("drift", "--adopt", "instances.said")).code).toBe(0);
    expect((await texts())[0]).toBe(`${old}        power: stopped\n`);
    expect((await gf("drift")).code).toBe(0);
    await bench.test.call("POST", `${path}/start`);
    await bench.test.until(path, "RUNNING");
    await writeFile(files.base, old);
  });

  const refusals: readonly (readonly [reason: string, address: string, params: JsonObject, why: RegExp])[] = [
    [
      "one of several of a forEach",
      'instances.cache["eu"]',
      { name: "other" },
      /graphform\.yaml:22: .*one block for 2 resources[\s\S]*moved/,
    ],
    [
      "a value that an expression makes",
      "instances.said",
      { description: "other" },
      /graphform\.yaml:27: .*made of \$\{var\.text\}, declared at .*graphform\.yaml:6/,
    ],
  ];
  it.each(refusals)(
    "writes nothing for %s, says where, and is not offered",
    async (_, address, params, why) => {
      await update(address, params);
      const markdown = join(bench.folder, "drift.md");
      const { out: shown } = await gf("drift", "--markdown", markdown);
      expect([shown, await readFile(markdown, "utf8")].join()).not.toContain("--adopt");
      const before = await texts();
      const { code, out, err } = await gf("drift", "--adopt", address);
      expect([code, out, err]).toEqual([1, "", expect.stringMatching(why)]);
      expect(await texts()).toEqual(before);
      expect((await gf("apply", "--auto-approve")).code).toBe(0);
    },
  );

  it("takes a live value for text, whatever stands in it", async () => {
    await update("instances.orders", { name: "${var.text} $${x}" });
    expect((await gf("drift", "--adopt", "instances.orders")).code).toBe(0);
    expect((await texts())[0]).toContain(`"name":        '$\${var.text} $$\${x}'`);
    expect((await gf("drift")).code).toBe(0);
  });

  it.each([
    ["instances.order", 'did you mean "instances.orders"?'],
    ["instances.orders.config.nmae", 'did you mean "config.name"?'],
    ["instances.orders.config.graphdbPassword", "secrets are never written"],
    ["instances.said", "nothing to adopt"],
  ])("%s: what is there gets no value, and what is not there gets a hint", async (target, words) => {
    const before = await texts();
    const { code, err } = await gf("drift", "--adopt", target);
    expect([code, err]).toEqual([words.startsWith("nothing") ? 0 : 1, expect.stringContaining(words)]);
    expect(await texts()).toEqual(before);
  });

  it("follows a link to the file", async () => {
    const linked = join(bench.folder, "linked.yaml");
    await symlink(files.upper, linked);
    await bench.test.call("POST", `${await pathOf("instances.orders")}/stop`);
    await bench.test.until(await pathOf("instances.orders"), "STOPPED");
    const [, old = ""] = await texts();
    const { upper: real } = files;
    files.upper = linked;
    expect((await gf("drift", "--adopt", "instances.orders.power")).code).toBe(0);
    expect((await lstat(linked)).isSymbolicLink()).toBe(true);
    expect(await readFile(real, "utf8")).toBe(old.replace("power: running", "power: stopped"));
  });
});

describe("the fields that --adopt names", () => {
  const memory = { ...name, path: "config.maxMemory", source: "probed", seen: "2GB" } as const;
  const timeout = {
    ...name,
    path: "config.graphDBTimeoutMax",
    source: "probed",
    seen: 9,
    fixed: true,
  } as const;
  const reportOf = (resource: ResourceDrift): DriftReport => ({ ...whole, resources: [resource] });
  const report = reportOf({ ...orders, fields: [timeout, memory] });
  const fieldsOf = (target: string, given = report): ReturnType<typeof adoptedFields> => {
    const addresses = given.resources.map(({ address }) => ({ address }));
    return adoptedFields(
      [target],
      { report: given, plan: { changes: [] } },
      { desired: addresses as unknown as Manifest["desired"] },
      kinds,
    );
  };
  const caught = (target: string, given = report): unknown => {
    try {
      return fieldsOf(target, given);
    } catch (error) {
      return error;
    }
  };

  it("are not those that were set by hand in the database and are fixed at creation", () => {
    expect(fieldsOf("instances.orders").map(({ path }) => path)).toEqual(["config.maxMemory"]);
    expect(leftOutText(["instances.orders"], report)).toBe(
      "left out of instances.orders: config.graphDBTimeoutMax was set by hand in the running database, and it is fixed at creation; graphform apply sets it back\n",
    );
    expect(leftOutText(["instances.orders.config.maxMemory"], report)).toBe("");
    expect(caught("instances.orders.config.graphDBTimeoutMax")).toMatchObject({
      code: "adopt-refused",
      message: expect.stringMatching(/cannot be adopted: config.graphDBTimeoutMax was set by hand/),
      hint: "graphform apply sets it back",
    });
  });

  it("are settled where a probed value is declared, though the next apply has yet to send it", () => {
    const [field] = fieldsOf("instances.orders");
    if (field === undefined) throw new Error("maxMemory is not adopted");
    const ours = { class: "ours", declared: "2048MB" } as const;
    expect(isAsDeclared(field, ours, kinds)).toBe(true);
    expect(isAsDeclared(field, { ...ours, declared: "3GB" }, kinds)).toBe(false);
    expect(isAsDeclared(field, { ...ours, class: "outside" }, kinds)).toBe(false);
    expect(isAsDeclared({ ...field, isProbed: false }, ours, kinds)).toBe(false);
  });

  it("of a failed resource are none, and the hint has its ways on", () => {
    const failed = reportOf({ ...orders, what: "failed", waysOn: "ask the vendor" });
    expect(caught("instances.orders.config.maxMemory", failed)).toMatchObject({
      message: "instances.orders cannot be adopted: it has failed, and no value of the manifest can say that",
      hint: "ask the vendor",
    });
  });

  it.each([
    ["instances.orders", /^remove the block at [\s\S]*address: 'instances.orders', destroy/],
    [
      `instances.cache["it's"]`,
      /^take "it's" out of forEach at [\s\S]*'instances.cache\["it''s"\]', destroy/,
    ],
  ])("of a deleted %s are none, and the hint takes nothing else with it", (address, hint) => {
    const gone = reportOf({ ...orders, address, what: "deleted", fields: [] });
    expect(caught(address, gone)).toMatchObject({ hint: expect.stringMatching(hint) });
  });
});
