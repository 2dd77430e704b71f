import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { at, components, poll, pro, startTest, type TestPlatform } from "./harness.ts";

const path = "/2022-09-01-00/resource-instance/snapshot";
const zoned = `${components}/hosted/pro/single-zone`;

let test: TestPlatform;
beforeAll(async () => {
  test = await startTest();
});
afterAll(() => test.close());

async function running(on: TestPlatform = test, place = pro): Promise<string> {
  const id = await on.create(place, { name: "source", graphDBCacheSize: 77 });
  await on.until(`${place}/${id}`, "RUNNING");
  return id;
}

async function listed(on: TestPlatform, query = ""): Promise<readonly JsonObject[]> {
  return JSON.parse((await on.call("GET", `${path}${query}`)).text).snapshots;
}

async function completed(on: TestPlatform, of: string, region = "us-east-1"): Promise<JsonObject> {
  return poll(
    async () =>
      (await listed(on)).findLast(
        (each) =>
          each["sourceInstanceId"] === of && each["region"] === region && each["status"] === "completed",
      ),
    `a snapshot of ${of} in ${region}`,
  );
}

describe("backup and list (2.3, 4.5, 4.7)", () => {
  it("takes a manual snapshot with every field", async () => {
    const id = await running();
    const answer = await test.call("POST", `${pro}/${id}/backup`);
    expect([answer.status, answer.text]).toEqual([202, ""]);
    const snapshot = await completed(test, id);
    expect(snapshot).toMatchObject({
      snapshotId: expect.stringMatching(/^snapshot-/),
      sourceInstanceId: id,
      snapshotType: "ManualSnapshot",
      status: "completed",
      progress: 100,
      encrypted: false,
      cloudProvider: "aws",
      region: "us-east-1",
      createdTime: expect.stringMatching(/^\d{4}-.*Z$/),
      completeTime: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect((await test.call("GET", `${path}/${snapshot["snapshotId"]}`)).body).toEqual(snapshot);
    const own = await test.call("GET", `${pro}/${id}/snapshot`);
    expect(own.body["snapshots"]).toEqual([snapshot]);
  });

  it("shows a snapshot that is still made, and refuses to use or delete it", async () => {
    const slow = await startTest({ delays: { create: 5, backup: 400 } });
    try {
      const id = await running(slow);
      await slow.call("POST", `${pro}/${id}/backup`);
      const [pending] = await listed(slow);
      expect(pending).toMatchObject({ status: "pending", progress: 0, completeTime: "0001-01-01T00:00:00Z" });
      const own = `${path}/${pending?.["snapshotId"]}`;
      expect((await slow.call("POST", own, { targetRegion: "eu-west-1" })).status).toBe(409);
      expect((await slow.call("POST", `${own}/restore`)).status).toBe(409);
      expect((await slow.call("DELETE", own)).status).toBe(409);
      await completed(slow, id);
      expect((await slow.call("DELETE", own)).status).toBe(202);
      expect((await slow.call("GET", own)).status).toBe(404);
    } finally {
      await slow.close();
    }
  });

  it("filters by type and environment", async () => {
    const automatic = await startTest({ snapshotInterval: 40 });
    try {
      const id = await running(automatic);
      await poll(
        async () =>
          (await listed(automatic, "?snapshotType=AutomatedSnapshot")).length > 0 ? true : undefined,
        "an automated one",
      );
      await poll(
        async () => ((await automatic.call("POST", `${pro}/${id}/backup`)).status === 202 ? true : undefined),
        "a manual one",
      );
      await poll(
        async () =>
          (await listed(automatic, "?snapshotType=ManualSnapshot")).length === 1 ? true : undefined,
        "it in the list",
      );
      expect((await listed(automatic, "?snapshotType=ManualSnapshot&environmentType=PROD")).length).toBe(1);
      expect(await listed(automatic, "?environmentType=DEV")).toEqual([]);
      expect((await automatic.call("GET", `${path}?snapshotType=Manual`)).status).toBe(400);
      expect((await automatic.call("GET", `${path}?environmentType=moon`)).status).toBe(400);
    } finally {
      await automatic.close();
    }
  });

  it.each([
    ["an instance that is stopped", "STOPPED", 409],
    ["an instance that does not exist", 404, 404],
  ])("of %s is refused", async (_why, state, status) => {
    const id = await running();
    await test.call(state === 404 ? "DELETE" : "POST", `${pro}/${id}${state === 404 ? "" : "/stop"}`);
    await test.until(`${pro}/${id}`, state);
    expect((await test.call("POST", `${pro}/${id}/backup`)).status).toBe(status);
    expect((await test.call("POST", path, { instanceId: id })).status).toBe(status);
    expect((await listed(test)).some((each) => each["sourceInstanceId"] === id)).toBe(false);
  });
});

describe("copy (4.4) and restore", () => {
  it("copies to the other region's folder, and restores from it after the source is gone", async () => {
    const id = await running();
    expect((await test.call("POST", path, { instanceId: id })).body["id"]).toMatch(/^snapshot-/);
    const { snapshotId } = await completed(test, id);
    const copied = await test.call("POST", `${path}/${snapshotId}`, { targetRegion: "eu-west-1" });
    expect([copied.status, Object.keys(copied.body)]).toEqual([202, ["id"]]);
    const copy = await completed(test, id, "eu-west-1");
    expect(await readdir(join(test.dataDir, "snapshots", "eu-west-1"))).toContain(
      `${copy["snapshotId"]}.rdb`,
    );
    await test.call("DELETE", `${pro}/${id}`);
    await test.until(`${pro}/${id}`, 404);

    const restored = await test.call("POST", `${path}/${copy["snapshotId"]}/restore`);
    expect([restored.status, Object.keys(restored.body)]).toEqual([202, ["instanceId"]]);
    const { body } = await test.until(`${pro}/${restored.body["instanceId"]}`, "RUNNING");
    expect(body["region"]).toBe("eu-west-1");
    const old = await test.call("POST", `${pro}/snapshot/${copy["snapshotId"]}/restore`, {});
    expect(Object.keys(old.body)).toEqual(["id"]);
    await test.until(`${pro}/${old.body["id"]}`, "RUNNING");
    await test.call("DELETE", `${path}/${copy["snapshotId"]}`);
    expect(await readdir(join(test.dataDir, "snapshots", "eu-west-1"))).not.toContain(
      `${copy["snapshotId"]}.rdb`,
    );
  });

  it.each([
    ["as specified", { target_region: "ap-south-1" }],
    ["as the real service has it", { targetRegion: "ap-south-1" }],
  ])("copy-snapshot of an instance, spelled %s", async (_why, body) => {
    const id = await running();
    expect((await test.call("POST", `${pro}/${id}/copy-snapshot`, body)).status).toBe(409);
    await test.call("POST", `${pro}/${id}/backup`);
    const { snapshotId } = await completed(test, id);
    const answer = await test.call("POST", `${pro}/${id}/copy-snapshot`, {
      ...body,
      source_snapshot_id: snapshotId ?? "",
    });
    expect(answer.status).toBe(202);
    const copy = await completed(test, id, "ap-south-1");
    expect(answer.body["snapshot_id"]).toBe(copy["snapshotId"]);
  });

  it.each([
    ["no region", {}],
    ["a region that climbs", { targetRegion: "../../../etc" }],
    ["dots", { targetRegion: ".." }],
    ["a number", { targetRegion: 5 }],
    ["the region it is in", { targetRegion: "us-east-1" }],
  ])("refuses %s", async (_why, body) => {
    const id = await running();
    await test.call("POST", `${pro}/${id}/backup`);
    const { snapshotId } = await completed(test, id);
    expect((await test.call("POST", `${path}/${snapshotId}`, body)).status).toBe(400);
  });

  it.each([
    ["a network, which its tier does not have", { custom_network_id: "n-1" }],
    ["a network type that is none", { network_type: "MOON" }],
  ])("is not restored into %s", async (_why, body) => {
    await test.call("POST", "/_platform/networks", {
      id: "n-1",
      name: "n",
      cloudProvider: "aws",
      region: "us-east-1",
    });
    const id = await running();
    await test.call("POST", `${pro}/${id}/backup`);
    const { snapshotId } = await completed(test, id);
    expect((await test.call("POST", `${path}/${snapshotId}/restore`, body)).status).toBe(400);
  });

  it("knows no other snapshots", async () => {
    for (const [method, rest] of [
      ["GET", ""],
      ["POST", ""],
      ["DELETE", ""],
      ["POST", "/restore"],
    ] as const) {
      expect(
        (await test.call(method, `${path}/snapshot-none${rest}`, method === "GET" ? undefined : {})).status,
      ).toBe(404);
    }
  });
});

describe("failover (4.7)", () => {
  const primaryOf = async (id: string): Promise<{ readonly node: string; readonly port: unknown }> => {
    const { body } = await test.until(`${zoned}/${id}`, "RUNNING");
    const nodes = JSON.parse(
      JSON.stringify(at(body["detailedNetworkTopology"], "r-pro-single-zone", "nodes") ?? []),
    );
    const node = nodes.find((each: { role: string }) => each.role === "primary").id;
    return { node, port: at(body["result_params"], "graphdbPort") };
  };

  it.each([
    ["as specified", "failed_replica_id", "failed_replica_action"],
    ["as the real service has it", "failedReplicaID", "failedReplicaAction"],
    ["as its portal sends it", "failedReplicaId", "failedReplicaAction"],
  ])("makes the other node primary, spelled %s", async (_why, idKey, actionKey) => {
    const id = await running(test, zoned);
    const before = await primaryOf(id);
    const body = { [idKey]: before.node, [actionKey]: "FAILOVER_AND_RESTART" };
    const answer = await test.call("POST", `${zoned}/${id}/failover`, body);
    expect([answer.status, answer.text]).toEqual([202, ""]);
    const after = await primaryOf(id);
    expect(after.node).not.toBe(before.node);
    expect(after.port).not.toBe(before.port);
  });

  it.each([
    ["no node", { failed_replica_action: "FAILOVER_ONLY" }, 400],
    ["no action", { failed_replica_id: "node-sz-0" }, 400],
    ["an unknown action", { failed_replica_id: "node-sz-0", failed_replica_action: "EXPLODE" }, 400],
    [
      "a node of another component",
      { failed_replica_id: "node-mz-0", failed_replica_action: "FAILOVER_ONLY" },
      400,
    ],
  ])("refuses %s", async (_why, body, status) => {
    const id = await running(test, zoned);
    expect((await test.call("POST", `${zoned}/${id}/failover`, body)).status).toBe(status);
  });

  it("has nothing to fail over to where there is one node", async () => {
    const id = await running();
    const body = { failed_replica_id: "node-s-0", failed_replica_action: "FAILOVER_ONLY" };
    expect((await test.call("POST", `${pro}/${id}/failover`, body)).status).toBe(409);
  });
});
