import { afterAll, beforeAll, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { startTest, type TestPlatform } from "./harness.ts";
import { askPort, needEngine } from "./real.ts";
import { listOf, of, pair, params, topologyOf } from "./vendor.ts";

let test: TestPlatform;
beforeAll(async () => {
  await needEngine();
  test = await startTest({ profile: "falkordb-cloud" }, "real");
}, 240_000);
afterAll(() => test.close());

const own = { ...params, falkordbUser: "app", falkordbPassword: "a-real-password" };

/** The one entry of the topology in which the databases' nodes stand. */
function nodesEntry(body: JsonObject): JsonObject {
  return topologyOf(body).find((entry) => entry["resourceKey"] === "node-sz") ?? {};
}

/** Ports of the nodes by their ids. */
function portsOf(body: JsonObject): { readonly [id: string]: number } {
  return Object.fromEntries(
    listOf(nodesEntry(body)["nodes"]).map(({ id, ports }) => [
      String(id),
      Number(Array.isArray(ports) ? ports[0] : 0),
    ]),
  );
}

async function roleAt(port: number | undefined): Promise<unknown> {
  const answer = await askPort(port ?? 0, "ROLE");
  return Array.isArray(answer) ? answer[0] : answer;
}

it("a node's role is asked of the database, the endpoint is the primary's, and a failover moves both", async () => {
  const id = await test.create(pair, own);
  const before = (await test.until(`${pair}/${id}`, "RUNNING")).body;
  const ports = portsOf(before);
  expect(await roleAt(ports["node-sz-0"])).toBe("master");
  expect(await roleAt(ports["node-sz-1"])).toBe("slave");
  expect(nodesEntry(before)["clusterPorts"]).toEqual([ports["node-sz-0"]]);
  await askPort(ports["node-sz-0"] ?? 0, "GRAPH.QUERY", "g", "CREATE (:N {n: 1})");
  const body = { failedReplicaID: "node-sz-0", failedReplicaAction: "FAILOVER_ONLY" };
  expect((await test.call("POST", `${of("pro")}/node-sz/${id}/failover`, body)).status).toBe(202);
  const after = (await test.until(`${pair}/${id}`, "RUNNING")).body;
  expect(nodesEntry(after)["clusterPorts"]).toEqual([portsOf(after)["node-sz-1"]]);
  expect(await roleAt(portsOf(after)["node-sz-1"])).toBe("master");
  const rows = await askPort(
    portsOf(after)["node-sz-1"] ?? 0,
    "GRAPH.RO_QUERY",
    "g",
    "MATCH (n:N) RETURN count(n)",
  );
  expect(JSON.stringify(rows)).toContain("[[1]]");
}, 240_000);
