import { createClient } from "@redis/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { setupEngine } from "../../src/platform/engine/index.ts";
import { at, components } from "../platform/harness.ts";
import { quickProfile } from "../support/quick-profile.ts";
import { type Bench, startBench } from "./harness.ts";

const search = await setupEngine();
const zoned = `${components}/hosted/pro/single-zone`;
const password = "a-password-of-tests";
const manifest = `apiVersion: graphform/v1
name: real
instances:
  orders: { tier: pro, component: single-zone, cloudProvider: aws, region: us-east-1 }
`;

describe.skipIf(search.engine === undefined)("operations upon real databases", () => {
  let bench: Bench;
  let id = "";

  beforeAll(async () => {
    bench = await startBench(manifest, { engine: "" });
    id = await bench.test.create(zoned, {
      nodeInstanceType: "m7g.large",
      graphdbUser: "app",
      graphdbPassword: password,
    });
    await bench.test.until(`${zoned}/${id}`, "RUNNING");
    expect((await bench.gf("import", "instances.orders", id)).code).toBe(0);
  }, 240_000);
  afterAll(() => bench.close(), 60_000);

  async function query(text: string): Promise<unknown> {
    const { body } = await bench.test.call("GET", `${zoned}/${id}`);
    const port = Number(at(body, "result_params", "graphdbPort"));
    const client = createClient({
      username: "app",
      password,
      socket: { host: "127.0.0.1", port, reconnectStrategy: false },
    });
    client.on("error", () => undefined);
    await client.connect();
    try {
      const reply: unknown = await client.sendCommand(["GRAPH.QUERY", "g", text]);
      return Array.isArray(reply) && Array.isArray(reply[1]) ? reply[1].flat()[0] : reply;
    } finally {
      client.destroy();
    }
  }

  async function primary(): Promise<string> {
    const { body } = await bench.test.call("GET", `${zoned}/${id}`);
    const nodes =
      JSON.stringify(body["detailedNetworkTopology"]).match(/\{"id":"[^"]+"[^}]*"role":"primary"/)?.[0] ?? "";
    return /"id":"([^"]+)"/.exec(nodes)?.[1] ?? "";
  }

  it("a failover promotes the replica, and writes go on with the data", async () => {
    await query("UNWIND range(1, 1000) AS i CREATE (:N {i: i})");
    const before = await primary();
    const { code, err } = await bench.gf("instance", "failover", "instances.orders");
    expect([code, err]).toEqual([0, expect.stringContaining("failed over")]);
    expect(await primary()).not.toBe(before);
    await query("CREATE (:N {i: 1001})");
    expect(await query("MATCH (n:N) RETURN count(n)")).toBe(1001);
  });

  it("a backup is a snapshot that can be copied", async () => {
    const quick = ["--profile", await bench.write("quick.yaml", quickProfile)];
    expect((await bench.gf("instance", "backup", "instances.orders", ...quick)).code).toBe(0);
    const [snapshot] = JSON.parse((await bench.gf("snapshot", "list", "--json")).out);
    expect(snapshot).toMatchObject({ instanceId: id, status: "completed" });
    const copied = await bench.gf("snapshot", "copy", snapshot.id, "--region", "eu-west-1", "--json");
    expect([copied.code, JSON.parse(copied.out).region]).toEqual([0, "eu-west-1"]);
  });
});
