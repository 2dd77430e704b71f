import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { nest } from "../../src/model/spec.ts";
import { check, line } from "./check.ts";

const base = `apiVersion: graphform/v1
name: shop
guards: { maxDeletes: 0, maxDisruption: restart }
instances:
  orders:
    tier: pro
    component: standalone
    cloudProvider: aws
    region: us-east-1
    config: { name: orders, nodeInstanceType: m7g.large }
    lifecycle: { ignoreChanges: [config.name, config.description] }
`;

const layered = (...texts: readonly string[]): ReturnType<typeof check> =>
  check([base, ...texts].map((text, index): readonly [string, string] => [`${index}.yaml`, text]));

async function ordersSpec(...texts: readonly string[]): Promise<JsonObject | undefined> {
  const { manifest } = await layered(...texts);
  return manifest?.desired.find(({ address }) => address === "instances.orders")?.spec;
}

describe("layers", () => {
  it("merge maps deeply, and the later one wins", async () => {
    const spec = await ordersSpec(
      "instances:\n  orders:\n    region: eu-west-1\n    config: { name: other, graphdbUser: app }\n",
    );
    expect(nest(spec ?? {})).toMatchObject({
      tier: "pro",
      region: "eu-west-1",
      config: { name: "other", nodeInstanceType: "m7g.large", graphdbUser: "app" },
    });
  });

  it("replace lists", async () => {
    const { manifest } = await layered("instances:\n  orders:\n    lifecycle: { ignoreChanges: [region] }\n");
    expect(manifest?.desired[0]?.lifecycle.ignoreChanges).toEqual(["region"]);
  });

  it("keep what a later one does not say", async () => {
    const { manifest } = await layered("guards: { maxDeletes: 5 }\n");
    expect(manifest?.guards).toEqual({ maxDeletes: 5, maxDisruption: "restart" });
  });

  it("add resources; an empty one in between changes nothing", async () => {
    const { manifest } = await layered(
      "# nothing\n",
      "instances:\n  b: { tier: free, component: free, cloudProvider: aws, region: eu }\n",
    );
    expect(manifest?.desired.map(({ address }) => address)).toEqual(["instances.orders", "instances.b"]);
  });

  it("leave out a section that is there without a value", async () => {
    const { manifest, problems } = await check(`${base}users:\nvariables:\nimports:\n`);
    expect(problems).toEqual([]);
    expect(manifest?.imports).toEqual([]);
  });

  it.each([
    [
      "a value is wrong in the upper one",
      "instances:\n  orders:\n    tier: prp\n",
      "1.yaml:3:11 not-allowed",
    ],
    ["a key is wrong in the upper one", "instances:\n  orders:\n    confg: {}\n", "1.yaml:3:5 unknown-key"],
    [
      "the upper one takes something away that only the lower one says",
      "instances:\n  orders:\n    tier: free\n    component: free\n",
      "0.yaml:10:47 tier-field",
    ],
    ["the upper one is no YAML", "a: [\n", "1.yaml:2:1 yaml"],
    ["the upper one is a list", "- a\n", "1.yaml:1:1 not-a-map"],
    [
      "the upper one puts text over a map",
      "instances:\n  orders:\n    config: none\n",
      "1.yaml:3:13 wrong-type",
    ],
    [
      "the upper one makes the lower one wrong",
      "instances:\n  orders:\n    cloudProvider: gcp\n",
      "0.yaml:10:47 unknown-type",
    ],
  ])("say which file is wrong: %s", async (_, upper, place) => {
    const { problems } = await layered(upper);
    expect(problems.map((problem) => line(problem).split(" ").slice(0, 2).join(" "))).toEqual([place]);
  });

  it("sort problems by file and line", async () => {
    const { problems } = await layered(
      "outputs:\n  b: { x: 1, value: 1 }\nguards: { maxDelete: 1 }\n",
      "name: X\n",
    );
    expect(problems.map(({ range }) => `${range.file}:${range.start.line}`)).toEqual([
      "1.yaml:2",
      "1.yaml:3",
      "2.yaml:1",
    ]);
  });
});

describe("defaults", () => {
  it.each([
    ["an unknown key", "{ passwrd: x }", "14:12 unknown-key"],
    ["a wrong value", "{ acl: 5 }", "14:17 wrong-type"],
    ["a wrong lifecycle", "{ lifecycle: { protect: maybe } }", "14:34 wrong-type"],
    [
      "nothing wrong, and much missing",
      '{ acl: "${var.acl}", lifecycle: { protect: "${var.p}" } }',
      undefined,
    ],
  ])("of a section that declares nothing: %s", async (_, defaults, place) => {
    const { problems } = await check(
      `${base}variables: { acl: { default: x }, p: { default: true } }\ndefaults:\n  users: ${defaults}\n`,
    );
    const found = problems.map(({ range, code }) => `${range.start.line}:${range.start.column} ${code}`);
    expect(found).toEqual(place === undefined ? [] : [place]);
  });

  const withDefaults = (defaults: string, text = base): ReturnType<typeof check> =>
    check(`${text}defaults:\n  instances: ${defaults}\n`);

  it("are laid under each resource, deeply", async () => {
    const { manifest } = await withDefaults(
      "{ region: eu, config: { name: x, graphdbUser: app }, lifecycle: { protect: false } }",
    );
    const [orders] = manifest?.desired ?? [];
    expect(nest(orders?.spec ?? {})).toMatchObject({
      region: "us-east-1",
      config: { name: "orders", graphdbUser: "app", nodeInstanceType: "m7g.large" },
    });
    expect(orders?.lifecycle).toMatchObject({
      protect: false,
      ignoreChanges: ["config.name", "config.description"],
    });
  });

  it("may know each turn of a forEach", async () => {
    const text = base.replace("tier:", "forEach: [a, b]\n    tier:").replace("name: orders, ", "");
    const { manifest } = await withDefaults('{ config: { name: "db-${each.key}" } }', text);
    expect(manifest?.desired.map(({ spec }) => nest(spec)["config"])).toMatchObject([
      { name: "db-a" },
      { name: "db-b" },
    ]);
  });

  it.each([
    ["a value", "{ power: on }", "13:23 not-allowed"],
    ["a key", "{ pwer: stopped }", "13:16 unknown-key"],
    ["what the tier lacks", "{ config: { maxMemory: 6GB } }", "13:37 tier-field"],
    ["a section", "{}\n  instance: {}", "14:3 unknown-key"],
  ])("are pointed at when they are wrong, once for all resources: %s", async (_, defaults, place) => {
    const text = base
      .replace("tier:", "forEach: [a, b, c]\n    tier:")
      .replace("name: orders, ", "")
      .replace("    lifecycle", "#   lifecycle");
    const { problems } = await withDefaults(defaults, text.replace("guards", "# guards"));
    expect(problems.map(({ range, code }) => `${range.start.line}:${range.start.column} ${code}`)).toEqual([
      place.replace(/^\d+/, (n) => String(Number(n) + 1)),
    ]);
  });
});
