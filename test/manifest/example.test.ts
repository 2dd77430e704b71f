import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nest } from "../../src/model/spec.ts";
import { check } from "./check.ts";

const example = readFileSync(join(import.meta.dirname, "example.yaml"), "utf8");

describe("the example of the manifest's contract", () => {
  it("validates, with nothing but a warning of what is left to defaults", async () => {
    const { problems, warnings } = await check(example);
    expect(problems).toEqual([]);
    expect(new Set(warnings.map(({ code }) => code))).toEqual(new Set(["create-only-default"]));
  });

  it("becomes these resources", async () => {
    const { manifest } = await check(example);
    expect(manifest?.desired.map(({ address, refs }) => [address, refs])).toEqual([
      ["cloudAccounts.prod-aws", []],
      ["networks.core", []],
      ["instances.orders", ["networks.core"]],
      ["instances.vault", ["cloudAccounts.prod-aws"]],
      ['instances.cache["us-east-1"]', []],
      ['instances.cache["eu-west-1"]', []],
      ["users.reader", ["instances.orders"]],
    ]);
    const orders = manifest?.desired.find(({ address }) => address === "instances.orders");
    expect({ ...orders, where: orders?.where() }).toMatchObject({
      kind: "instances",
      importId: "instance-abc",
      where: { file: "m.yaml", start: { line: 40, column: 3 }, end: { line: 62, column: 56 } },
      timeouts: { create: 2_400_000, update: 2_400_000, delete: 2_400_000 },
      lifecycle: {
        protect: true,
        onReplace: "refuse",
        onDelete: "delete",
        ignoreChanges: ["config.description"],
        dependsOn: ["networks.core"],
      },
    });
    expect(nest(orders?.spec ?? {})).toEqual({
      tier: "enterprise",
      component: "single-zone",
      cloudProvider: "aws",
      region: "us-east-1",
      networkType: "INTERNAL",
      network: "core",
      power: "running",
      config: {
        name: "orders",
        description: "the order graph",
        nodeInstanceType: "m7g.large",
        maxMemory: "6GB",
        graphdbUser: "app",
        graphdbPassword: { $secret: "sealed text of secret.ordersPassword" },
        graphDBCacheSize: 100,
      },
    });
  });

  it("becomes this frame", async () => {
    const { manifest } = await check(example);
    expect(manifest).toMatchObject({
      name: "shop-prod",
      service: {
        profile: "default",
        platformUrl: "https://platform.example.com",
        usersUrl: "https://users.example.com",
        subscriptionId: "sub-123",
      },
      state: { backend: "file" },
      guards: { maxDeletes: 0, maxChangePercent: 30, maxDisruption: "restart" },
      outputs: {
        ordersEndpoint: { value: { $template: [{ $ref: "instances.orders.endpoint" }] }, sensitive: false },
      },
      imports: [{ address: "instances.orders", id: "instance-abc" }],
      moved: [{ from: "instances.shop", to: "instances.orders" }],
      removed: [
        { address: "instances.legacy", destroy: false, reason: "handed to team blue", until: "2027-01-01" },
      ],
    });
  });
});
