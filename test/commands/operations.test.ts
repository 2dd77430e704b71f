import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AskRole, failoverOf } from "../../src/kinds/instance-operations.ts";
import type { Json } from "../../src/model/json.ts";
import { at, components, pro } from "../platform/harness.ts";
import { quickProfile } from "../support/quick-profile.ts";
import { type Bench, startBench } from "./harness.ts";

const zoned = `${components}/hosted/pro/single-zone`;
const manifest = `apiVersion: graphform/v1
name: ops
service: { profile: PROFILE }
instances:
  orders: { tier: pro, component: single-zone, cloudProvider: aws, region: us-east-1 }
  alone: { tier: pro, component: standalone, cloudProvider: aws, region: us-east-1 }
`;
const config = { nodeInstanceType: "m7g.large", graphdbUser: "app", graphdbPassword: "a-password-of-tests" };

describe("operations", () => {
  let bench: Bench;
  let orders = "";
  let alone = "";

  beforeAll(async () => {
    bench = await startBench(manifest);
    const profile = await bench.write("quick.yaml", quickProfile);
    await bench.write("graphform.yaml", manifest.replace("PROFILE", profile));
    orders = await bench.test.create(zoned, config);
    alone = await bench.test.create(pro, config);
    await bench.test.until(`${zoned}/${orders}`, "RUNNING");
    await bench.test.until(`${pro}/${alone}`, "RUNNING");
    for (const [address, id] of [
      ["instances.orders", orders],
      ["instances.alone", alone],
    ] as const) {
      expect(await bench.gf("import", address, id)).toMatchObject({
        code: 0,
        err: "Bound. No differences found.\n",
      });
    }
  });
  afterAll(() => bench.close());

  it.each([
    ["backup", "BACKING_UP is passed through, then RUNNING", "RUNNING"],
    ["failover", "the first node is given up where nobody names one", "RUNNING"],
    ["restart", "from RUNNING to RUNNING", "RUNNING"],
    ["stop", "the only verb that ends elsewhere", "STOPPED"],
    ["start", "and back again", "RUNNING"],
  ])("%s is sent, waited for and told (%s)", async (verb, _why, status) => {
    const { code, out, err } = await bench.gf("instance", verb, "instances.orders");
    const done =
      verb === "backup" ? /: backup snapshot-\w+ is complete\.\n$/ : new RegExp(`: ${verb} complete\\.\n$`);
    expect([code, out]).toEqual([0, expect.stringMatching(done)]);
    expect(out).toContain(`instances.orders (${orders})`);
    expect(err).toContain("instances.orders: ");
    expect((await bench.test.call("GET", `${zoned}/${orders}`)).body["status"]).toBe(status);
    expect(at(await bench.state(), "resources", "instances.orders", "converging")).toBeUndefined();
  });

  it("events are JSON lines", async () => {
    const { out } = await bench.gf("instance", "restart", "instances.orders", "--json");
    expect(
      out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).type),
    ).toEqual(["apply_start", "apply_complete"]);
  });

  it("what is accepted and not waited for is remembered, and the next command waits for it", async () => {
    const { code, out } = await bench.gf("instance", "restart", "instances.orders", "--no-wait");
    expect([code, out]).toEqual([0, `instances.orders (${orders}): restart accepted.\n`]);
    expect(at(await bench.state(), "resources", "instances.orders", "converging", "operation")).toBe(
      "restart",
    );
    const next = await bench.gf("instance", "backup", "instances.orders");
    expect([next.code, next.err]).toEqual([0, expect.stringContaining("waiting...")]);
  });

  it.each(["restart", "backup", "stop", "start"])("%s looks again after one 404", async (verb) => {
    const hidden = { operation: "describe", count: 1, fault: { status: 404 } };
    await bench.test.call("PUT", "/_platform/faults", [hidden]);
    const { code, err } = await bench.gf("instance", verb, "instances.orders");
    await bench.test.call("DELETE", "/_platform/faults");
    expect([code, err]).toEqual([0, expect.not.stringContaining("deleted outside")]);
  });

  it("tells the reason of a backup that failed, and lists it", async () => {
    const fault = { operation: "backup", count: 1, fault: { failed: "no room for it" } };
    await bench.test.call("PUT", "/_platform/faults", [fault]);
    const { code, out, err } = await bench.gf("instance", "backup", "instances.orders");
    expect([code, `${out}${err}`]).toEqual([
      1,
      expect.stringMatching(
        /failed: FAILED \(no room for it\)[\s\S]*nothing was deleted, and it runs; run again/,
      ),
    ]);
    expect((await bench.gf("snapshot", "list")).out).toContain("FAILED (no room for it)");
  });

  it("a time that is up is exit 7, and the operation goes on", async () => {
    // It says nothing of how far it is.
    await bench.test.call("PUT", "/_platform/faults", [
      { operation: "describe", after: 2, fault: { status: 503 } },
    ]);
    const { code, out } = await bench.gf("instance", "restart", "instances.orders", "--timeout", "1s");
    await bench.test.call("DELETE", "/_platform/faults");
    expect([code, out]).toEqual([7, expect.stringContaining("the next apply waits for it")]);
    expect((await bench.gf("instance", "start", "instances.orders")).code).toBe(0);
  });

  it.each([
    [["backup", "instances.ordes"], "did you mean instances.orders?", "a typo"],
    [["failover", "instances.alone"], "one node and nothing to fail over to", "no replica"],
    [["failover", "instances.orders", "--replica", "node-x"], 'has no node "node-x"', "an unknown node"],
    [["failover", "instances.orders", "--action", "PANIC"], "", "an unknown action"],
  ])("%j is refused before anything is sent: %s (%s)", async (args, message) => {
    const { code, err } = await bench.gf("instance", ...args);
    expect([code, err]).toEqual([1, expect.stringContaining(message)]);
  });

  it("a stopped instance cannot be backed up, and the way out is said", async () => {
    expect((await bench.gf("instance", "stop", "instances.alone")).code).toBe(0);
    const { code, err } = await bench.gf("instance", "backup", "instances.alone");
    expect([code, err]).toEqual([1, expect.stringContaining("start it first: graphform instance start")]);
    expect((await bench.gf("instance", "start", "instances.alone")).code).toBe(0);
  });

  it("a held lock is exit 5", async () => {
    const { createFileStore } = await import("../../src/state/file-store.ts");
    const { systemClock } = await import("../../src/model/clock.ts");
    const lock = await createFileStore({ path: `${bench.folder}/state.json` }).lock("test", {
      clock: systemClock,
    });
    const { code, err } = await bench.gf("instance", "stop", "instances.orders");
    await lock.release();
    expect([code, err]).toEqual([5, expect.stringContaining("the state is locked")]);
  });

  it("snapshots are listed by type, and copied with their copy found", async () => {
    await bench.gf("instance", "backup", "instances.orders");
    const listed = JSON.parse((await bench.gf("snapshot", "list", "--type", "manual", "--json")).out);
    expect(listed[0]).toMatchObject({
      instanceId: orders,
      region: "us-east-1",
      status: "completed",
      type: "ManualSnapshot",
    });
    expect((await bench.gf("snapshot", "list", "--type", "automated")).out).toBe("No snapshots.\n");
    expect((await bench.gf("snapshot", "list", "--environment", "DEV")).out).toBe("No snapshots.\n");
    const copied = await bench.gf("snapshot", "copy", listed[0].id, "--region", "eu-west-1", "--json");
    const copy = JSON.parse(copied.out);
    expect(copy).toMatchObject({ instanceId: orders, region: "eu-west-1", status: "completed" });
    expect(copy.id).not.toBe(listed[0].id);
    await bench.test.call("PUT", "/_platform/faults", [
      { operation: "copy-snapshot", count: 1, fault: { reset: "after" } },
    ]);
    const lost = await bench.gf("snapshot", "copy", listed[0].id, "--region", "us-west-2", "--json");
    await bench.test.call("DELETE", "/_platform/faults");
    expect(lost.code, lost.err).toBe(0);
    const after: { region: string }[] = JSON.parse((await bench.gf("snapshot", "list", "--json")).out);
    expect(after.filter(({ region }) => region === "us-west-2")).toHaveLength(1);
    const table = (await bench.gf("snapshot", "list")).out;
    expect(table.split("\n")[0]).toMatch(/^snapshot +instance +type +status +region +created +completed$/);
    expect(table).toContain("aws/eu-west-1");
    expect(await bench.gf("snapshot", "copy", "snapshot-none", "--region", "eu-west-1")).toMatchObject({
      code: 1,
      err: expect.stringContaining("there is no snapshot snapshot-none"),
    });
  });
});

describe("the node that a failover gives up", () => {
  const node = (id: string, more = {}): object => ({ id, ...more });
  const topology = (nodes: readonly object[], main = true): object => ({ r: { main, nodes } });
  const json = (value: object): Json => JSON.parse(JSON.stringify(value));
  const never: AskRole = () => expect.fail("asked");

  it.each([
    ["the unwell one", [node("a", { role: "primary" }), node("b", { healthStatus: "UNHEALTHY" })], "b"],
    ["the primary", [node("a"), node("b", { role: "master" })], "b"],
  ])("is %s, and no database is asked", async (_why, nodes, wanted) => {
    const shown = { ...topology(nodes), s: { main: false, nodes: [{ id: "sentinel", status: "FAILED" }] } };
    expect((await failoverOf("i", json(shown), {}, never)).body).toEqual({
      failedReplicaId: wanted,
      failedReplicaAction: "FAILOVER_AND_RESTART",
    });
  });

  it("is the named one if the service shows none, with the named action", async () => {
    const choices = { replica: "x", action: "FAILOVER_ONLY" };
    expect((await failoverOf("i", undefined, choices, never)).body).toEqual({
      failedReplicaId: "x",
      failedReplicaAction: "FAILOVER_ONLY",
    });
    await expect(failoverOf("i", undefined, {}, never)).rejects.toThrow("does not show the nodes");
  });

  const pair = json(
    topology([
      node("a", { endpoint: "10.0.0.1", ports: [6379] }),
      node("b", { endpoint: "10.0.0.2", ports: [6380] }),
    ]),
  );
  const saying =
    (roles: { readonly [host: string]: Awaited<ReturnType<AskRole>> }): AskRole =>
    async ({ host, port }) =>
      roles[`${host}:${port}`];

  it("is the one that says it is the primary, if the service shows no roles and none is unwell", async () => {
    const asked = saying({ "10.0.0.1:6379": "replica", "10.0.0.2:6380": "primary" });
    expect((await failoverOf("i", pair, {}, asked)).body).toMatchObject({ failedReplicaId: "b" });
  });

  it.each([
    ["one says nothing and the other is a replica", { "10.0.0.1:6379": "replica" as const }],
    [
      "both say that they are primaries",
      { "10.0.0.1:6379": "primary" as const, "10.0.0.2:6380": "primary" as const },
    ],
    ["none says anything", {}],
  ])("is not guessed if %s", async (_why, roles) => {
    const refused = failoverOf("i", pair, {}, saying(roles));
    await expect(refused).rejects.toMatchObject({
      code: "primary-unknown",
      message: expect.stringContaining(
        "neither the service nor the databases say which node of i is the primary",
      ),
      hint: expect.stringContaining("--replica"),
    });
  });

  it("is not asked for an address that could contain credentials", async () => {
    const shown = topology([
      node("a", { endpoint: "user:word@10.0.0.1", ports: [1] }),
      node("b", { ports: [1] }),
    ]);
    await expect(failoverOf("i", json(shown), {}, never)).rejects.toThrow("a does not say, b does not say");
  });

  it("stands in what computes if the main resource has no nodes; its resource is named in the path", async () => {
    const unwell = { healthStatus: "UNHEALTHY" };
    const shown = {
      a: { main: true, hasCompute: false, resourceKey: "single-Zone", nodes: [] },
      b: { main: false, resourceKey: "omnistrateobserv", nodes: [node("o", unwell)] },
      c: { main: false, hasCompute: true, resourceKey: "sentinel-sz", nodes: [node("s", unwell)] },
      d: { main: false, hasCompute: true, isJob: true, resourceKey: "rebalance", nodes: [node("r", unwell)] },
      e: { main: false, hasCompute: true, resourceKey: "node-sz", nodes: [node("n0"), node("n1", unwell)] },
    };
    const { body, nodeResourceKey } = await failoverOf("i", json(shown), {}, never);
    expect([body["failedReplicaId"], nodeResourceKey]).toEqual(["n1", "node-sz"]);
  });
});
