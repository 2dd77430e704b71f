import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Answer, startTest, type TestPlatform } from "./harness.ts";
import { listOf, pair, params, placeOf, pro, startup, v } from "./vendor.ts";

let test: TestPlatform;
beforeAll(async () => {
  test = await startTest({ profile: "falkordb-cloud" });
});
afterAll(() => test.close());

function upgrade(id: string, body: JsonObject, on: TestPlatform = test): Promise<Answer> {
  return on.call("POST", `${v}/resource-instance/${id}/version-upgrade`, body);
}

async function made(path = pro, top: JsonObject = {}): Promise<string> {
  const id = await test.create(path, params, top);
  await test.until(`${path}/${id}`, "RUNNING");
  return id;
}

async function versionAt(path: string): Promise<unknown> {
  return (await test.call("GET", path)).body["tierVersion"];
}

describe("a version upgrade", () => {
  it("goes through DEPLOYING to the newest version, also where the platform ends meanwhile", async () => {
    const dataDir = temporaryFolder("upgrade");
    const slow = await startTest({ profile: "falkordb-cloud", delays: { upgrade: 60_000 }, dataDir });
    const id = await slow.create(pro, params);
    await slow.until(`${pro}/${id}`, "RUNNING");
    expect((await upgrade(id, placeOf(pro), slow)).status).toBe(202);
    const { body } = await slow.call("GET", `${pro}/${id}`);
    expect([body["status"], body["tierVersion"]]).toEqual(["DEPLOYING", "1.0"]);
    const meanwhile = await upgrade(id, placeOf(pro), slow);
    expect([meanwhile.status, meanwhile.body["message"]]).toEqual([
      409,
      expect.stringMatching(/already in progress/),
    ]);
    await slow.close();
    const later = await startTest({ profile: "falkordb-cloud", dataDir });
    await later.until(`${pro}/${id}`, "RUNNING");
    expect((await later.call("GET", `${pro}/${id}`)).body["tierVersion"]).toBe("1.1");
    await later.close();
  });

  it("takes a version, and leaves a stopped instance stopped", async () => {
    const path = `${pair}/${await made(pair)}`;
    await test.call("POST", `${path}/stop`);
    await test.until(path, "STOPPED");
    const id = path.split("/").at(-1) ?? "";
    expect((await upgrade(id, { ...placeOf(pair), targetVersion: "1.1" })).status).toBe(202);
    await test.until(path, "STOPPED");
    expect(await versionAt(path)).toBe("1.1");
  });

  it("is refused where there is nothing newer, no such version, or another place", async () => {
    const id = await made(pro, { productTierVersion: "1.1" });
    expect(await versionAt(`${pro}/${id}`)).toBe("1.1");
    const old = await made();
    for (const [of, body, status, message] of [
      [id, placeOf(pro), 400, /has version 1\.1; 1\.1 is not newer/],
      [id, { ...placeOf(pro), targetVersion: "1.0" }, 400, /1\.0 is not newer/],
      [old, { ...placeOf(pro), targetVersion: "9.9" }, 400, /no service plan has version 9\.9/],
      [old, { ...placeOf(pro), targetVersion: 2 }, 400, /targetVersion must be a string/],
      [old, { ...placeOf(pro), serviceKey: "" }, 400, /serviceKey is required/],
      [old, { ...placeOf(pro), version: "1.1" }, 400, /version is not a field/],
      [old, placeOf(startup), 404, /not found/],
      [old, { ...placeOf(pro), serviceKey: "graphdb" }, 404, /not found/],
      ["instance-none", placeOf(pro), 404, /not found/],
    ] as const) {
      const answer = await upgrade(of, body);
      expect([answer.status, answer.body["message"]]).toEqual([status, expect.stringMatching(message)]);
    }
    const other = await test.call(
      "POST",
      `${v}/resource-instance/${old}/version-upgrade?subscriptionId=sub-free`,
      placeOf(pro),
    );
    expect(other.status).toBe(403);
    expect(await versionAt(`${pro}/${old}`)).toBe("1.0");
  });

  it("of a version that no plan has is refused at a create, too", async () => {
    const answer = await test.call("POST", pro, {
      cloud_provider: "aws",
      region: "us-east-1",
      productTierVersion: "9.9",
      requestParams: params,
    });
    expect([answer.status, answer.body["message"]]).toEqual([400, expect.stringMatching(/version 9\.9/)]);
  });

  it("is kept by snapshots, and by what is restored from them", async () => {
    const id = await made(pro, { productTierVersion: "1.1" });
    await test.call("POST", `${v}/resource-instance/snapshot`, { instanceId: id });
    await test.until(`${pro}/${id}`, "RUNNING");
    const [snapshot] = listOf((await test.call("GET", `${pro}/${id}/snapshot`)).body["snapshots"]);
    expect(snapshot).toMatchObject({ status: "COMPLETE", productTierVersion: "1.1" });
    const { body } = await test.call(
      "POST",
      `${v}/resource-instance/snapshot/${snapshot?.["snapshotId"]}/restore`,
    );
    const restored = await test.until(`${pro}/${body["instanceId"]}`, "RUNNING");
    expect(restored.body["tierVersion"]).toBe("1.1");
  });
});
