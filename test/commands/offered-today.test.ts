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
      "config.graphDBCacheSize is no parameter that the service takes",
      "config.enableTLS is missing, and the service needs it today",
    ])
      expect(online.err).toContain(said);
    expect((await bench.gf("doctor")).out).toMatch(/failed {2}offered today: instances.orders: .*and 2 more/);
  });

  it("is not told: that is said, and nothing is refused", async () => {
    const bench = await cloudBench(manifest("m7g.large"));
    expect(await bench.gf("validate", "--online")).toMatchObject({
      code: 0,
      err: expect.stringContaining("does not tell what it offers for pro single-zone"),
    });
  });
});
