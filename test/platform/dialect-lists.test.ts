import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { at, poll, startTest, type TestPlatform } from "./harness.ts";
import { lengthOf, listOf, params, pro, small, startup, v } from "./vendor.ts";

let test: TestPlatform;
beforeAll(async () => {
  test = await startTest({ profile: "falkordb-cloud" });
});
afterAll(() => test.close());

describe("snapshots", () => {
  it("are made, shown, restored, copied and deleted; there is no backup, and a list of none is empty", async () => {
    const own = await startTest({ profile: "falkordb-cloud" });
    try {
      const id = await own.create(pro, params);
      await own.until(`${pro}/${id}`, "RUNNING");
      const list = async (): Promise<JsonObject> =>
        (await own.call("GET", `${v}/resource-instance/snapshot`)).body;
      expect(await list()).toEqual({});
      expect((await own.call("GET", `${pro}/${id}/snapshot`)).body).toEqual({});
      expect((await own.call("POST", `${pro}/${id}/backup`)).status).toBe(404);
      const made = await own.call("POST", `${v}/resource-instance/snapshot?subscriptionId=sub-pro`, {
        instanceId: id,
      });
      expect(made.status).toBe(202);
      const snapshot = await poll(
        async () => listOf((await list())["snapshots"]).find((each) => each["status"] === "COMPLETE"),
        "the snapshot",
      );
      expect(snapshot).toMatchObject({
        sourceInstanceId: id,
        snapshotType: "ManualSnapshot",
        productTierId: "pt-pro",
      });
      const path = `${v}/resource-instance/snapshot/${snapshot["snapshotId"]}`;
      await own.until(`${pro}/${id}`, "RUNNING");
      const copy = await own.call("POST", `${pro}/${id}/copy-snapshot`, { targetRegion: "eu-west-1" });
      expect([copy.status, Object.keys(copy.body)]).toEqual([202, ["snapshotId"]]);
      const restored = await own.call("POST", `${path}/restore?subscriptionId=sub-pro`, {});
      expect(restored.status).toBe(202);
      const there = await own.until(`${pro}/${restored.body["instanceId"]}`, "RUNNING");
      expect(there.body).toMatchObject({ subscriptionId: "sub-pro", result_params: { name: "one" } });
      const copied = `${v}/resource-instance/snapshot/${copy.body["snapshotId"]}`;
      await poll(
        async () => (await own.call("GET", copied)).body["status"] === "COMPLETE" || undefined,
        "the copy",
      );
      expect((await own.call("DELETE", path)).status).toBe(202);
      expect((await own.call("GET", path)).status).toBe(404);
    } finally {
      await own.close();
    }
  });
});

describe("plans", () => {
  it("stand under the API's keys alone", async () => {
    const { body } = await test.call("GET", `${v}/service-offering`);
    const [service] = listOf(body["services"]);
    expect(service).toMatchObject({ serviceProviderId: "sp-JvkxkPhinN", serviceURLKey: "falkordb" });
    const offerings = listOf(service?.["offerings"]);
    expect(offerings.map((each) => each["productTierURLKey"])).toContain(
      "falkordb-pro-falkordb-customer-hosted-model-omnistrate-dedicated-tenancy",
    );
    expect(offerings.flatMap((each) => Object.keys(each))).not.toContain("productTierKey");
    expect(listOf(offerings[2]?.["resourceParameters"]).map((each) => each["urlKey"])).toEqual([
      "standalone",
      "single-Zone",
      "multi-Zone",
    ]);
  });

  it("answer the parameters of a component: instance types for each provider, bounds, what can be changed", async () => {
    const id = await test.create(pro, params);
    const { body: instance } = await test.until(`${pro}/${id}`, "RUNNING");
    const path = `${v}/service-offering/s-local/resource/${instance["resourceID"]}/instance`;
    const { body } = await test.call("GET", `${path}/none?productTierId=pt-pro`);
    expect((await test.call("GET", `${path}/${id}`)).body).toEqual(body);
    const [create, update] = listOf(body["apis"]);
    const inputs = listOf(create?.["inputParameters"]);
    const types = inputs.filter(({ key }) => key === "nodeInstanceType");
    expect(types.map((each) => [at(each, "scope", "cloudProviders"), each["options"]])).toContainEqual([
      ["aws"],
      ["t4g.medium", "m7g.large", "r7g.large"],
    ]);
    expect(inputs.find(({ key }) => key === "falkorDBCacheSize")).toMatchObject({
      type: "Float64",
      modifiable: false,
      defaultValue: "25",
      description: expect.stringContaining("(1 to 256)"),
    });
    expect(inputs.map(({ key }) => key)).not.toContain("enableEnterpriseModule");
    expect([...new Set(listOf(update?.["inputParameters"]).map(({ key }) => key))].sort()).toEqual([
      "description",
      "falkordbPassword",
      "name",
      "nodeInstanceType",
    ]);
    expect((await test.call("GET", `${path}/none?productTierId=pt-free`)).status).toBe(400);
    expect((await test.call("GET", `${path}/instance-of-nobody`)).status).toBe(404);
  });
});

describe("long lists", () => {
  it("have a token for the entries that are left", async () => {
    const own = await startTest({ profile: "falkordb-cloud", pageSize: 2 });
    try {
      for (let count = 0; count < 3; count += 1) await own.create(startup, small);
      for (const [path, key] of [
        [startup, "ids"],
        [`${v}/resource-instance`, "resourceInstances"],
      ] as const) {
        const first = await own.call("GET", path);
        expect([first.body["nextPageToken"], lengthOf(first.body[key])]).toEqual(["2", 2]);
        const second = await own.call("GET", `${path}?nextPageToken=2`);
        expect([second.body["nextPageToken"], lengthOf(second.body[key])]).toEqual([undefined, 1]);
      }
    } finally {
      await own.close();
    }
  });
});
