import { describe, expect, it } from "vitest";
import { cloudBench } from "./cloud-bench.ts";

const manifest = (type: string): string => `instances:
  orders:
    tier: pro
    component: single-zone
    cloudProvider: aws
    region: us-east-1
    config: { name: a, nodeInstanceType: ${type}, graphdbUser: app, graphdbPassword: "\${secret.pw}", graphDBCacheSize: 100 }
`;
const input = (key: string, more = {}): { readonly [name: string]: unknown } => ({
  key,
  type: "String",
  required: false,
  ...more,
});
const inputs = [
  input("name"),
  input("falkordbUser", { required: true }),
  input("falkordbPassword", { required: true }),
  input("falkorDBCacheSize", { type: "Float64" }),
  input("nodeInstanceType", { required: true, options: ["m6g.large", "r6g.large"] }),
];
const api = (inputParameters: readonly unknown[]): never[] =>
  JSON.parse(JSON.stringify([{ verb: "CREATE", inputParameters }]));

describe("what the service offers today", () => {
  it("an instance type that only the service knows is a warning offline, and right online", async () => {
    const bench = await cloudBench(manifest("m6g.large"));
    bench.cloud.apis = api(inputs);
    const offline = await bench.gf("validate");
    expect(offline).toMatchObject({ code: 0, err: expect.stringContaining("warning") });
    expect(bench.cloud.service.seen).toEqual([]);
    expect((await bench.gf("validate", "--online")).code).toBe(0);
    expect((await bench.gf("doctor")).out).toContain("offered today: everything that the manifest declares");
  });

  it("one that it has no more is an error online, and in doctor, with those that it has", async () => {
    const bench = await cloudBench(manifest("m7g.large"));
    bench.cloud.apis = api([
      ...inputs.filter(({ key }) => key !== "falkorDBCacheSize"),
      input("enableTLS", { required: true }),
    ]);
    expect((await bench.gf("validate")).code).toBe(0);
    const online = await bench.gf("validate", "--online");
    expect(online.code).toBe(3);
    for (const said of [
      "config.nodeInstanceType is m7g.large, which the service does not offer today",
      "offered: m6g.large, r6g.large",
      "config.graphDBCacheSize is not a parameter that the service takes",
      "config.enableTLS is missing, and the service needs it today",
    ])
      expect(online.err).toContain(said);
    expect((await bench.gf("doctor")).out).toMatch(/failed {2}offered today: instances.orders: .*and 2 more/);
  });

  it("a pattern that a value does not match is an error with the pattern", async () => {
    const bench = await cloudBench(manifest("m6g.large"));
    bench.cloud.apis = api([{ ...inputs[0], regex: "^[b-z]+$" }, ...inputs.slice(1)]);
    const online = await bench.gf("validate", "--online");
    expect(online.code).toBe(3);
    expect(online.err).toContain("config.name is a, and the service's pattern for it does not match that");
    expect(online.err).toContain("it has to match ^[b-z]+$");
    bench.cloud.apis = api([{ ...inputs[0], regex: "^[a-z]+$" }, ...inputs.slice(1)]);
    expect((await bench.gf("validate", "--online")).code).toBe(0);
  });

  it.each([
    ["would run for ever", "(a*)*(a*)*(a*)*b$"],
    ["is none", "("],
    ["is of another dialect", "(?P<x>a)"],
    ["is very long", "a".repeat(3000)],
  ])("a pattern that %s is left out and said", async (_, regex) => {
    const long = manifest("m6g.large").replace("name: a", `name: ${"a".repeat(40)}`);
    const bench = await cloudBench(long + long.replace("instances:\n  orders", "  others"));
    bench.cloud.apis = api([{ ...inputs[0], regex }, ...inputs.slice(1)]);
    const online = await bench.gf("validate", "--online");
    expect(online.code, online.err).toBe(0);
    expect(online.err.match(/config\.name was not compared with the service's pattern/g)).toHaveLength(1);
    expect((await bench.gf("doctor")).out).toMatch(/ok +offered today: config\.name was not compared/);
  });

  it("a parameter that it needs and nobody here knows is an error online, and in doctor", async () => {
    const bench = await cloudBench(manifest("m6g.large"));
    const more = [
      input("backupWindow", { required: true }),
      input("withDefault", { required: true, defaultValue: "x" }),
      input("optional"),
      input("ofAzure", { required: true, scope: { cloudProviders: ["azure"] } }),
      input("cloud_provider", { required: true }),
      input("region", { required: true }),
    ];
    bench.cloud.apis = api([...inputs, ...more]);
    const online = await bench.gf("validate", "--online");
    expect(online.code).toBe(3);
    expect(online.err).toContain("the service needs the parameter backupWindow today");
    expect(online.err).not.toMatch(/withDefault|optional|ofAzure|cloud_provider|region is missing/);
    expect((await bench.gf("doctor")).out).toMatch(/failed {2}offered today: .*backupWindow/);
  });

  it.each([403, 404])(
    "is refused with %i for one plan: that is said, and the others are compared",
    async (status) => {
      const bench = await cloudBench(
        manifest("m7g.large") +
          manifest("m7g.large")
            .replace("instances:\n  orders", "  huge")
            .replace("tier: pro", "tier: enterprise"),
      );
      bench.cloud.apis = api(inputs);
      bench.cloud.meddle = ({ url }) =>
        url.includes("/resource/r-enterprise") ? { status, body: { message: "not yours" } } : undefined;
      const online = await bench.gf("validate", "--online");
      expect(online.code).toBe(3);
      expect(online.err).toContain("config.nodeInstanceType is m7g.large");
      expect(online.err).toMatch(/does not tell what it offers for enterprise single-zone: .*not yours/);
      bench.cloud.meddle = ({ url }) =>
        /service-offering$/.test(url.split("?")[0] ?? "")
          ? { status, body: { message: "no catalogue" } }
          : undefined;
      const blind = await bench.gf("validate", "--online");
      expect(blind.code, blind.err).toBe(0);
      expect(blind.err).toMatch(/does not tell what it offers for pro single-zone: .*no catalogue/);
    },
  );

  it("is not told: that is said, and nothing is refused", async () => {
    const bench = await cloudBench(manifest("m7g.large"));
    expect(await bench.gf("validate", "--online")).toMatchObject({
      code: 0,
      err: expect.stringContaining("does not tell what it offers for pro single-zone"),
    });
  });
});
