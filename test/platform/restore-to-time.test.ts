import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defined, type JsonObject } from "../../src/model/json.ts";
import { type Answer, at, poll, startTest, type TestPlatform } from "./harness.ts";
import { askPort, needEngine } from "./real.ts";
import { listOf, of, params, pro, small, topologyOf, v } from "./vendor.ts";

let test: TestPlatform;
beforeAll(async () => {
  await needEngine();
  test = await startTest({ profile: "falkordb-cloud" }, "real");
}, 240_000);
afterAll(() => test.close());

const own = { ...params, falkordbUser: "app", falkordbPassword: "a-real-password" };

async function made(path = pro, requestParams: JsonObject = own): Promise<string> {
  const id = await test.create(path, requestParams);
  await test.until(`${path}/${id}`, "RUNNING");
  return `${path}/${id}`;
}

function restore(path: string, targetRestoreTime: string, more: JsonObject = {}): Promise<Answer> {
  return test.call("POST", `${path}/restore`, { targetRestoreTime, ...more });
}

/** Takes a snapshot of what is there now; when it was complete. */
async function takeSnapshot(path: string, targetRegion?: string): Promise<string> {
  const before = listOf((await test.call("GET", `${path}/snapshot`)).body["snapshots"]).length;
  const instanceId = path.split("/").at(-1) ?? "";
  await test.call("POST", `${v}/resource-instance/snapshot`, {
    instanceId,
    ...defined({ targetRegion }),
  });
  const latest = await poll(async () => {
    const shown = listOf((await test.call("GET", `${path}/snapshot`)).body["snapshots"]);
    const complete = shown.filter(({ status }) => status === "COMPLETE");
    return complete.length > before ? complete.at(-1) : undefined;
  }, "the snapshot");
  await test.until(path, "RUNNING");
  return String(latest["completeTime"]);
}

async function query(path: string, text: string): Promise<string> {
  const { body } = await test.call("GET", path);
  const [port] = topologyOf(body).flatMap(({ clusterPorts, resourceKey }) =>
    resourceKey === "node-s" && Array.isArray(clusterPorts) ? clusterPorts : [],
  );
  return JSON.stringify(await askPort(Number(port), "GRAPH.QUERY", "g", text));
}

const count = "MATCH (n:N) RETURN count(n)";

describe("a restore to a time", () => {
  it("has what the newest snapshot by then had, and nothing later", async () => {
    const path = await made();
    await query(path, "CREATE (:N)");
    const first = await takeSnapshot(path);
    await query(path, "CREATE (:N)");
    const second = await takeSnapshot(path);
    await query(path, "CREATE (:N)");
    const { body } = await test.call("GET", path);
    expect(body["backupStatus"]).toEqual({
      backupPeriodInHours: 0,
      backupRetentionInDays: 0,
      earliestRestoreTime: first,
      lastBackupTime: second,
    });
    const justBefore = new Date(Date.parse(second) - 1).toISOString();
    for (const [time, rows] of [
      [first, "[[1]]"],
      [justBefore, "[[1]]"],
      [second, "[[2]]"],
      [new Date().toISOString(), "[[2]]"],
    ] as const) {
      const answer = await restore(path, time);
      expect([answer.status, Object.keys(answer.body)]).toEqual([202, ["id"]]);
      const copy = `${pro}/${answer.body["id"]}`;
      const shown = await test.until(copy, "RUNNING");
      expect(shown.body["sourceSnapshotID"]).toMatch(/^snapshot-/);
      expect(await query(copy, count)).toContain(rows);
    }
    expect(await query(path, count)).toContain("[[3]]");
  }, 240_000);

  it("is refused outside of what is kept, and for a time that is none", async () => {
    const path = await made();
    const none = await restore(path, new Date().toISOString());
    expect([none.status, none.body["message"]]).toEqual([
      409,
      expect.stringMatching(/no completed snapshot/),
    ]);
    // A snapshot in another region is of no use here.
    await takeSnapshot(path, "eu-west-1");
    expect((await restore(path, new Date().toISOString())).status).toBe(409);
    expect((await test.call("GET", path)).body["backupStatus"]).toBeUndefined();
    const first = await takeSnapshot(path);
    for (const [time, message] of [
      [
        "2020-01-01T00:00:00Z",
        `before the earliest restore time of instance ${path.split("/").at(-1)}, ${first}`,
      ],
      [new Date(Date.now() + 60_000).toISOString(), "is in the future"],
      ["yesterday", "must be a time"],
      ["2026-02-31", "must be a time"],
    ] as const) {
      const answer = await restore(path, time);
      expect([answer.status, answer.body["message"]]).toEqual([400, expect.stringContaining(message)]);
    }
    for (const [body, message] of [
      [{}, "targetRestoreTime is required"],
      [{ targetRestoreTime: "2026-02-30T00:00:00Z" }, "must be a time"],
      [{ targetRestoreTime: first, network_type: "NONE" }, "network_type"],
      [{ targetRestoreTime: first, custom_network_id: "n" }, "not a field"],
    ] as const) {
      const answer = await test.call("POST", `${path}/restore`, body);
      expect([answer.status, answer.body["message"]]).toEqual([400, expect.stringContaining(message)]);
    }
  }, 240_000);

  it("is not offered by the free tier, and not for an instance that is not there", async () => {
    const free = `${of("free", "falkordb-customer-hosted-model-omnistrate-multi-tenancy")}/free`;
    const answer = await restore(await made(free, small), new Date().toISOString());
    expect([answer.status, answer.body["message"]]).toEqual([
      400,
      expect.stringMatching(/not offered by free/),
    ]);
    expect((await restore(`${pro}/instance-none`, new Date().toISOString())).status).toBe(404);
  }, 240_000);

  it("tells the new instance's events which data it has", async () => {
    const path = await made();
    const time = await takeSnapshot(path);
    const { body } = await restore(path, time);
    const events = await test.call("GET", `${v}/resource-instance/${body["id"]}/audit-events`);
    expect(at(events.body, "events")).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining(`complete at ${time}`) }),
    );
  }, 240_000);
});
