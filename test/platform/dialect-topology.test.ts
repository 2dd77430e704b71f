import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isObject, type JsonObject } from "../../src/model/json.ts";
import { startTest, type TestPlatform } from "./harness.ts";
import { listOf, of, pair, params, topologyOf } from "./vendor.ts";

let test: TestPlatform;
beforeAll(async () => {
  test = await startTest({ profile: "falkordb-cloud" });
});
afterAll(() => test.close());

describe("topology", () => {
  it("has nodes beside the public component, without roles, and one credential that is no output", async () => {
    const id = await test.create(pair, params);
    const { body } = await test.until(`${pair}/${id}`, "RUNNING");
    const entries = topologyOf(body);
    const one = (key: string): JsonObject => entries.find((entry) => entry["resourceKey"] === key) ?? {};
    expect(entries.map((entry) => entry["resourceKey"]).sort()).toEqual([
      "node-sz",
      "omnistrateobserv",
      "rebalance-sz",
      "sentinel-sz",
      "single-Zone",
    ]);
    expect(one("single-Zone")).toMatchObject({
      main: true,
      hasCompute: false,
      nodes: [],
      clusterEndpoint: "",
    });
    expect(one("node-sz")).toMatchObject({ main: false, hasCompute: true, clusterEndpoint: "127.0.0.1" });
    expect(listOf(one("node-sz")["nodes"]).map((node) => [node["id"], node["role"]])).toEqual([
      ["node-sz-0", undefined],
      ["node-sz-1", undefined],
    ]);
    expect(one("sentinel-sz")).toMatchObject({
      clusterEndpoint: `sentinel-sz.${id}.invalid`,
      clusterPorts: [26_379],
    });
    expect(one("rebalance-sz")).toMatchObject({ isJob: true, clusterEndpoint: "" });
    const observer = String(one("omnistrateobserv")["clusterEndpoint"]);
    expect(observer).toMatch(/^observer:[\w-]{20,}@omnistrateobserv\..*\.invalid:443$/);
    const [, password = ""] = observer.split(/[:@]/);
    const status = await test.call("GET", "/_platform/status");
    const log = await test.call("GET", "/_platform/requests");
    expect(status.text + log.text).not.toContain(password);
  });

  it("has its entries in the order of their ids, in which anything may come first", async () => {
    const components = ["standalone", "single-Zone", "multi-Zone"];
    const paths = ["pro", "enterprise"].flatMap((tier) => components.map((each) => `${of(tier)}/${each}`));
    const firsts = await Promise.all(
      paths.map(async (path) => {
        const id = await test.create(path, params);
        const { body } = await test.until(`${path}/${id}`, "RUNNING");
        const ids = Object.keys(
          isObject(body["detailedNetworkTopology"]) ? body["detailedNetworkTopology"] : {},
        );
        expect(ids).toEqual([...ids].sort());
        expect(ids).toContain(body["resourceID"]);
        return String(topologyOf(body)[0]?.["resourceKey"]).replace(/-[sm]?z?$/, "");
      }),
    );
    expect(new Set(firsts).size).toBeGreaterThan(2);
  });
});

describe("failover", () => {
  const fail = (from: TestPlatform, path: string, body: JsonObject) =>
    from.call("POST", `${path}/failover`, body);

  it.each([
    ["either", "node-sz", 202],
    ["either", "single-Zone", 202],
    ["node", "node-sz", 202],
    ["node", "single-Zone", 404],
    ["component", "node-sz", 404],
    ["component", "single-Zone", 202],
    ["either", "sentinel-sz", 404],
  ] as const)("with --failover-path %s the path of %s answers %i", async (failoverPath, key, status) => {
    const own = await startTest({ profile: "falkordb-cloud", failoverPath });
    try {
      const id = await own.create(pair, params);
      await own.until(`${pair}/${id}`, "RUNNING");
      const answer = await fail(own, `${of("pro")}/${key}/${id}`, {
        failedReplicaID: "node-sz-0",
        failedReplicaAction: "FAILOVER_ONLY",
      });
      expect(answer.status).toBe(status);
    } finally {
      await own.close();
    }
  });

  it("takes the API's keys and the portal's, and none of the specification's", async () => {
    const id = await test.create(pair, params);
    await test.until(`${pair}/${id}`, "RUNNING");
    const snake = await fail(test, `${pair}/${id}`, {
      failed_replica_id: "node-sz-0",
      failed_replica_action: "FAILOVER_ONLY",
    });
    expect([snake.status, snake.body["message"]]).toEqual([
      400,
      expect.stringMatching(/failed_replica_id is not a field/),
    ]);
    expect((await fail(test, `${pair}/${id}`, {})).body["message"]).toBe("failedReplicaID is required");
    expect((await fail(test, `${pair}/${id}`, { failedReplicaId: "node-sz-0" })).status).toBe(202);
  });
});
