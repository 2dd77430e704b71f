import { describe, expect, it } from "vitest";
import { nest } from "../../src/model/spec.ts";
import { check, line } from "./check.ts";

const head = "apiVersion: graphform/v1\nname: shop\n";
const body = (region: string): string => `    tier: enterprise
    component: standalone
    cloudProvider: aws
    region: ${region}
`;
const several = `${head}instances:
  cache:
    forEach: [us, eu]
${body("${each.value}")}`;

describe("forEach", () => {
  it.each([
    [
      "a list",
      "[us, eu]",
      "${each.value}",
      [
        ["us", "us"],
        ["eu", "eu"],
      ],
    ],
    [
      "numbers",
      "[1, 2]",
      "r${each.key}",
      [
        ["1", "r1"],
        ["2", "r2"],
      ],
    ],
    [
      "a map",
      "{ us: us-east-1, eu: eu-west-1 }",
      "${each.value}",
      [
        ["us", "us-east-1"],
        ["eu", "eu-west-1"],
      ],
    ],
    ["a map of maps", "{ us: { at: us-east-1 } }", "${each.value.at}", [["us", "us-east-1"]]],
    [
      "a variable",
      "${var.regions}",
      "${each.key}",
      [
        ["x", "x"],
        ["y", "y"],
      ],
    ],
    ["a variable inside", '["${var.one}-1"]', "${each.key}", [["only-1", "only-1"]]],
    ["nothing", "[]", "us", []],
    ["a key with a quote", `['a"b']`, "us", [['a\\"b', "us"]]],
  ])("over %s", async (_, forEach, region, members) => {
    const text = `${head}variables: { regions: { default: [x, y] }, one: { default: only } }
instances:
  cache:
    forEach: ${forEach}
${body(region)}`;
    const { manifest, problems } = await check(text);
    expect(problems).toEqual([]);
    expect(manifest?.desired.map(({ address, spec }) => [address, spec["region"]])).toEqual(
      members.map(([key, at]) => [`instances.cache["${key}"]`, at]),
    );
  });

  it("one wrong value is one problem, however many resources it makes", async () => {
    const { problems } = await check(several.replace("enterprise", "entreprise"));
    expect(problems.map(line)).toHaveLength(1);
  });
});

describe("references", () => {
  it("to outputs become templates, and dependencies", async () => {
    const text = `${several}  other:
${body("us")}    config: { name: "at \${instances.cache["eu"].host}:\${instances.cache["eu"].port}" }
    lifecycle: { dependsOn: [networks.core, instances.cache] }
networks: { core: { id: n-1, cloudProvider: aws, region: us } }
`
      .replace('name: "at', "name: 'at")
      .replace('.port}"', ".port}'");
    const { manifest, problems } = await check(text);
    expect(problems).toEqual([]);
    const other = manifest?.desired.find(({ address }) => address === "instances.other");
    expect(nest(other?.spec ?? {})["config"]).toEqual({
      name: {
        $template: [
          "at ",
          { $ref: 'instances.cache["eu"].host' },
          ":",
          { $ref: 'instances.cache["eu"].port' },
        ],
      },
    });
    expect(other?.refs).toEqual(['instances.cache["eu"]', "networks.core", 'instances.cache["us"]']);
  });

  it("by name find one of several, and are spelled one way", async () => {
    const text = `${several}users:
  reader: { instance: "cache[\\"\\\\u0065u\\"]", username: reader, password: "\${env.P}", acl: +PING }
`;
    const { manifest, problems } = await check(text);
    expect(problems).toEqual([]);
    expect(manifest?.desired.at(-1)).toMatchObject({
      refs: ['instances.cache["eu"]'],
      spec: { instance: 'cache["eu"]' },
    });
  });

  it("by name may follow a forEach", async () => {
    const text = `${several}users:
  reader:
    forEach: [us, eu]
    instance: cache["\${each.key}"]
    username: reader
    password: \${env.P}
    acl: +PING
`;
    const { manifest, problems } = await check(text);
    expect(problems).toEqual([]);
    expect(manifest?.desired.slice(2).map(({ refs }) => refs)).toEqual([
      ['instances.cache["us"]'],
      ['instances.cache["eu"]'],
    ]);
  });

  it("into a resource that is broken itself are no further problem", async () => {
    const broken = `${head}instances:\n  a: free\n  b:\n    forEach: 5\n${body("us")}outputs: { x: "\${instances.a.host}", y: "\${instances.b.host}" }\n`;
    const { problems } = await check(broken);
    expect(problems.map(({ code }) => code)).toEqual(["wrong-type", "wrong-type"]);
  });

  it("cycles: one problem for each, naming all of its members and nobody else", async () => {
    const one = (name: string, ...needs: readonly string[]): string =>
      `  ${name}: { tier: free, component: free, cloudProvider: aws, region: eu, lifecycle: { dependsOn: [${needs.map((need) => `instances.${need}`).join(", ")}] } }\n`;
    const text = `${head}instances:\n${one("a", "b")}${one("b", "a", "c")}${one("c")}${one("d", "a")}${one("x", "y")}${one("y", "z")}${one("z", "x")}`;
    const { problems } = await check(text);
    expect(problems.map(({ code, message }) => [code, message])).toEqual([
      ["cycle", "these need each other: instances.a -> instances.b -> instances.a"],
      ["cycle", "these need each other: instances.x -> instances.y -> instances.z -> instances.x"],
    ]);
  });

  it("circles of moves: a problem at the line of each member, and none for a chain", async () => {
    const orders = "instances:\n  orders: { tier: free, component: free, cloudProvider: aws, region: eu }\n";
    const move = (from: string, to: string): string =>
      `  - { from: instances.${from}, to: instances.${to} }\n`;
    const moved = `moved:\n${move("b", "c")}${move("old", "older")}${move("c", "b")}${move("older", "orders")}`;
    const { problems } = await check(`${head}${orders}${moved}`);
    const message = "these are moved in a circle: instances.b -> instances.c -> instances.b";
    const first = `${head}${orders}moved:\n`.split("\n").length;
    expect(problems).toMatchObject(
      [first, first + 2].map((line) => ({
        code: "bad-move",
        message,
        range: { start: { line, column: 13 } },
      })),
    );
    expect(problems).toHaveLength(2);
  });

  it("a chain of 12 000 is no cycle, and no stack overflows", async () => {
    const links = Array.from({ length: 12_000 }, (_, index) => {
      const need = index === 0 ? "" : `, lifecycle: { dependsOn: [networks.n${index - 1}] }`;
      return `  n${index}: { id: n-${index}, cloudProvider: aws, region: eu${need} }\n`;
    });
    const { problems, manifest } = await check(`${head}networks:\n${links.toReversed().join("")}`);
    expect(problems).toEqual([]);
    expect(manifest?.desired).toHaveLength(12_000);
  });
});

describe("what a resource becomes", () => {
  it("has nothing that the manifest does not say, but power", async () => {
    const { manifest } = await check(`${head}instances:\n  x:\n${body("us")}`);
    const [x] = manifest?.desired ?? [];
    expect({ ...x, where: x?.where() }).toEqual({
      address: "instances.x",
      kind: "instances",
      spec: {
        tier: "enterprise",
        component: "standalone",
        cloudProvider: "aws",
        region: "us",
        power: "running",
      },
      refs: [],
      where: { file: "m.yaml", start: { line: 4, column: 3 }, end: { line: 8, column: 15 } },
      lifecycle: { onReplace: "refuse", onDelete: "delete", ignoreChanges: [], dependsOn: [] },
      timeouts: {},
    });
  });

  it("keeps the order of its settings", async () => {
    const { manifest } = await check(
      `${head}instances:\n  x:\n${body("us")}    config: { graphdbUser: a, name: b, enableTLS: true, graphDBCacheSize: 5 }\n`,
    );
    expect(Object.keys(nest(manifest?.desired[0]?.spec ?? {})["config"] ?? {})).toEqual([
      "graphdbUser",
      "name",
      "enableTLS",
      "graphDBCacheSize",
    ]);
  });

  it("has its timeouts in ms", async () => {
    const { manifest } = await check(
      `${head}instances:\n  x:\n${body("us")}    timeouts: { create: 90s, update: 40m, delete: 2h }\n`,
    );
    expect(manifest?.desired[0]?.timeouts).toEqual({ create: 90_000, update: 2_400_000, delete: 7_200_000 });
  });

  it("is bound by its id, or by an import", async () => {
    const text = `${head}networks:\n  core: { id: n-1, cloudProvider: aws, region: eu }\ninstances:\n  x:\n${body("eu")}imports: [{ address: instances.x, id: i-1 }]\n`;
    const { manifest } = await check(text);
    expect(manifest?.desired.map(({ address, importId }) => [address, importId])).toEqual([
      ["networks.core", "n-1"],
      ["instances.x", "i-1"],
    ]);
  });
});

describe("entries of removed", () => {
  it("are warned of when their time is over", async () => {
    const text = `${head}removed: [{ address: instances.a, destroy: false, until: 2026-05-31 }, { address: instances.b, destroy: true, until: 2026-06-01 }]\n`;
    const { warnings, manifest } = await check(text, { today: "2026-06-01" });
    expect(warnings.map(({ code, message }) => [code, message])).toEqual([
      ["overdue-removal", "the entry for instances.a was to be removed by 2026-05-31"],
    ]);
    expect(manifest?.removed.map(({ address, destroy }) => [address, destroy])).toEqual([
      ["instances.a", false],
      ["instances.b", true],
    ]);
  });
});
