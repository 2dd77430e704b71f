import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../src/model/json.ts";
import { at, components, enterprise, poll, pro, startTest, type TestPlatform } from "./harness.ts";

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

describe("a tier without backups", () => {
  it("refuses to take one, by either endpoint, and takes none by itself", async () => {
    const automatic = await startTest({ snapshotInterval: 10 });
    try {
      const free = `${components}/hosted/free/free`;
      const id = await automatic.create(free);
      await automatic.until(`${free}/${id}`, "RUNNING");
      const answers = [
        await automatic.call("POST", `${free}/${id}/backup`),
        await automatic.call("POST", path, { instanceId: id }),
      ];
      for (const { status, body } of answers)
        expect([status, body["message"]]).toEqual([400, "backups are not offered by free"]);
      const other = await running(automatic);
      await completed(automatic, other);
      expect((await listed(automatic)).some((each) => each["sourceInstanceId"] === id)).toBe(false);
    } finally {
      await automatic.close();
    }
  });
});

it("takes no snapshot by itself once the platform is closed: its folder can be removed", async () => {
  for (let round = 0; round < 5; round += 1) {
    const automatic = await startTest({ snapshotInterval: 1 });
    await running(automatic);
    await expect(automatic.close()).resolves.toBeUndefined();
  }
});

describe("copy (4.4) and restore", () => {
  it("a snapshot is put into the region that its create names", async () => {
    const id = await running();
    const body = { instanceId: id, targetRegion: "eu-west-1" };
    expect((await test.call("POST", path, body)).status).toBe(202);
    const { snapshotId } = await completed(test, id, "eu-west-1");
    expect(await readdir(join(test.dataDir, "snapshots", "eu-west-1"))).toContain(`${snapshotId}.rdb`);
    const { body: answer } = await test.call("POST", `${path}/${snapshotId}/restore`);
    const described = await test.until(`${pro}/${answer["instanceId"]}`, "RUNNING");
    expect(described.body["region"]).toBe("eu-west-1");
  });

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

  /** A completed snapshot of an enterprise instance in a network, with two users. */
  async function ofNetwork(network: string): Promise<string> {
    await test.call("POST", "/_platform/networks", {
      id: network,
      name: network,
      cloudProvider: "aws",
      region: "us-east-1",
    });
    const id = await test.create(enterprise, { name: "source" }, { custom_network_id: network });
    await test.until(`${enterprise}/${id}`, "RUNNING");
    for (const username of ["reader", "writer"]) {
      const user = { username, password: "some-word", acl: "~* +PING" };
      const headers = { authorization: `Bearer ${test.token()}` };
      const users = `/v1/customer-ldap/instances/${id}/users?subscriptionId=s`;
      expect((await test.bare("POST", users, user, headers)).status).toBe(200);
    }
    await test.call("POST", `${enterprise}/${id}/backup`);
    const { snapshotId } = await completed(test, id);
    await test.call("DELETE", `${enterprise}/${id}`);
    await test.until(`${enterprise}/${id}`, 404);
    return String(snapshotId);
  }

  it.each([
    ["nothing said", {}, "n-own", "INTERNAL"],
    ["another network", { custom_network_id: "n-other" }, "n-other", "INTERNAL"],
    ["an internal address", { network_type: "INTERNAL" }, "n-own", "INTERNAL"],
    ["a public address", { network_type: "PUBLIC" }, undefined, "PUBLIC"],
  ])(
    "with %s, what comes has the users of its source, and is in network %j",
    async (_why, body, network, type) => {
      const snapshot = await ofNetwork("n-own");
      await test.call("POST", "/_platform/networks", {
        id: "n-other",
        name: "n",
        cloudProvider: "aws",
        region: "us-east-1",
      });
      const restored = await test.call("POST", `${path}/${snapshot}/restore`, body);
      const id = String(restored.body["instanceId"]);
      const described = await test.until(`${enterprise}/${id}`, "RUNNING");
      expect([described.body["custom_network"], described.body["network_type"]]).toEqual([network, type]);
      const users = await test.bare(
        "GET",
        `/v1/customer-ldap/instances/${id}/users?subscriptionId=s`,
        undefined,
        {
          authorization: `Bearer ${test.token()}`,
        },
      );
      const names: string[] = JSON.parse(users.text).users.map((user: { username: string }) => user.username);
      expect(names).toEqual(["default", "reader", "writer"]);
    },
  );

  it("is refused where its network cannot hold it, and says what can be done", async () => {
    const full = await startTest({ networks: "full" });
    try {
      const place = { id: "n-gone", name: "n", cloudProvider: "aws", region: "us-east-1" };
      await full.call("POST", "/_platform/networks", place);
      const id = await full.create(enterprise, {}, { custom_network_id: "n-gone" });
      await full.until(`${enterprise}/${id}`, "RUNNING");
      await full.call("POST", `${enterprise}/${id}/backup`);
      const { snapshotId } = await completed(full, id);
      await full.call("POST", `${path}/${snapshotId}`, { targetRegion: "eu-west-1" });
      const copy = await completed(full, id, "eu-west-1");
      const elsewhere = await full.call("POST", `${path}/${copy["snapshotId"]}/restore`, {});
      expect([elsewhere.status, elsewhere.body["message"]]).toEqual([
        400,
        expect.stringMatching(/n-gone, which is in aws us-east-1; name a custom_network_id in aws eu-west-1/),
      ]);
      await full.call("DELETE", `${enterprise}/${id}`);
      await full.until(`${enterprise}/${id}`, 404);
      await full.call("DELETE", "/2022-09-01-00/resource-instance/custom-network/n-gone");
      const gone = await full.call("POST", `${path}/${snapshotId}/restore`, {});
      expect([gone.status, gone.body["message"]]).toEqual([400, expect.stringContaining("which is gone")]);
      const open = await full.call("POST", `${path}/${snapshotId}/restore`, { network_type: "PUBLIC" });
      expect(open.status).toBe(202);
    } finally {
      await full.close();
    }
  });

  it("is not restored under another component's path", async () => {
    const id = await running();
    await test.call("POST", `${pro}/${id}/backup`);
    const { snapshotId } = await completed(test, id);
    expect((await test.call("POST", `${zoned}/snapshot/${snapshotId}/restore`, {})).status).toBe(404);
    expect((await test.call("POST", `${enterprise}/snapshot/${snapshotId}/restore`, {})).status).toBe(404);
  });

  it("copies the latest one of an instance, also after the clock was set back and the platform started anew", async () => {
    let time = Date.now();
    const first = await startTest({ now: () => time });
    const id = await running(first);
    const region = { target_region: "eu-west-1" };
    await first.call("POST", `${pro}/${id}/backup`);
    await completed(first, id);
    const again = async (ms: number): Promise<TestPlatform> => {
      time += ms;
      return startTest({ dataDir: first.dataDir, now: () => time });
    };
    await first.platform.close();
    const second = await again(-3 * 86_400_000);
    await second.call("POST", `${pro}/${id}/backup`);
    const latest = await poll(
      async () => (await listed(second)).filter((each) => each["status"] === "completed")[1],
      "the second one",
    );
    await second.close();
    const third = await again(1000);
    try {
      const { body } = await third.call("POST", `${pro}/${id}/copy-snapshot`, region);
      const records = join(third.dataDir, "control", "snapshots", `${body["snapshot_id"]}.json`);
      expect(JSON.parse(await readFile(records, "utf8")).copyOf).toBe(latest["snapshotId"]);
    } finally {
      await third.close();
      await rm(first.dataDir, { recursive: true, force: true });
    }
  });

  it.each([
    ["create", "", { instanceId: "ID", region: "eu-west-1" }, "region"],
    ["create, into what is no region", "", { instanceId: "ID", targetRegion: "../x" }, "targetRegion"],
    ["create, into a number", "", { instanceId: "ID", targetRegion: 7 }, "targetRegion"],
    ["copy", "/SNAPSHOT", { targetRegion: "eu-west-1", name: "x" }, "name"],
    ["restore", "/SNAPSHOT/restore", { requestParams: { name: "x" } }, "requestParams"],
    ["restore, with a list", "/SNAPSHOT/restore", [], "object"],
  ])("refuses in %s what it would not do", async (_why, rest, body, word) => {
    const id = await running();
    await test.call("POST", `${pro}/${id}/backup`);
    const { snapshotId } = await completed(test, id);
    const sent: Json = JSON.parse(JSON.stringify(body).replace("ID", id));
    const answer = await test.call("POST", `${path}${rest.replace("SNAPSHOT", String(snapshotId))}`, sent);
    expect([answer.status, answer.body["message"]]).toEqual([400, expect.stringContaining(word)]);
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

describe("a backup that fails, or never completes, on request", () => {
  const arm = async (operation: string, fault: JsonObject): Promise<void> => {
    const answer = await test.call("PUT", "/_platform/faults", [{ operation, count: 1, fault }]);
    if (answer.status !== 200) throw new Error(answer.text);
  };
  const own = async (id: string): Promise<readonly JsonObject[]> =>
    (await listed(test)).filter((each) => each["sourceInstanceId"] === id);
  const ended = (id: string): Promise<JsonObject> =>
    poll(async () => (await own(id)).findLast((each) => each["status"] === "FAILED"), "it to fail");

  it.each(["backup", "create-snapshot"])(
    "%s: FAILED in every list with its reason; the instance runs, and the next one works",
    async (operation) => {
      const id = await running();
      const take = () =>
        operation === "backup"
          ? test.call("POST", `${pro}/${id}/backup`)
          : test.call("POST", path, { instanceId: id });
      await arm(operation, { failed: "no room for it" });
      expect((await take()).status).toBe(202);
      const failed = await ended(id);
      expect(failed).toMatchObject({
        status: "FAILED",
        progress: 0,
        completeTime: "0001-01-01T00:00:00Z",
        snapshotMetadata: { failureReason: "no room for it" },
      });
      expect((await test.call("GET", `${path}/${failed["snapshotId"]}`)).body).toEqual(failed);
      expect((await test.call("GET", `${pro}/${id}/snapshot`)).body["snapshots"]).toEqual([failed]);
      const { body } = await test.until(`${pro}/${id}`, "RUNNING");
      expect(JSON.stringify(body)).toContain("no room for it");
      for (const [rest, sent] of [
        ["", { targetRegion: "eu-west-1" }],
        ["/restore", {}],
      ] as const)
        expect((await test.call("POST", `${path}/${failed["snapshotId"]}${rest}`, sent)).status).toBe(409);
      await take();
      await completed(test, id);
      expect((await test.call("DELETE", `${path}/${failed["snapshotId"]}`)).status).toBe(202);
      expect(await own(id)).toHaveLength(1);
    },
  );

  it("never completes: pending until the instance is deleted, which makes it FAILED", async () => {
    const id = await running();
    await arm("backup", { stuck: true });
    await test.call("POST", `${pro}/${id}/backup`);
    await test.until(`${pro}/${id}`, "BACKING_UP");
    expect(await own(id)).toMatchObject([{ status: "pending" }]);
    expect((await test.call("POST", `${pro}/${id}/backup`)).status).toBe(409);
    await poll(
      async () => ((await test.call("DELETE", `${pro}/${id}`)).status === 202 ? true : undefined),
      "the rescue",
    );
    await test.until(`${pro}/${id}`, 404);
    expect(await own(id)).toMatchObject([{ status: "FAILED" }]);
  });

  it("of a copy", async () => {
    const id = await running();
    await test.call("POST", `${pro}/${id}/backup`);
    const { snapshotId } = await completed(test, id);
    await arm("copy-snapshot", { failed: "the region is closed" });
    await test.call("POST", `${path}/${snapshotId}`, { targetRegion: "eu-west-1" });
    expect(await ended(id)).toMatchObject({ region: "eu-west-1" });
    await arm("copy-snapshot", { stuck: true });
    await test.call("POST", `${path}/${snapshotId}`, { targetRegion: "ap-south-1" });
    const [, , stuck] = await own(id);
    expect(stuck).toMatchObject({ region: "ap-south-1", status: "pending" });
    expect((await test.call("DELETE", `${path}/${stuck?.["snapshotId"]}`)).status).toBe(202);
    expect(await own(id)).toHaveLength(2);
  });

  it("that is refused leaves nothing in the list", async () => {
    const id = await running();
    await arm("restart", { stuck: true });
    await test.call("POST", `${pro}/${id}/restart`);
    await test.until(`${pro}/${id}`, "RESTARTING");
    expect((await test.call("POST", `${pro}/${id}/backup`)).status).toBe(409);
    expect(await own(id)).toEqual([]);
  });
});
