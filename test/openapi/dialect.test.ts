import { afterAll, beforeAll, expect, it } from "vitest";
import type { Json } from "../../src/model/json.ts";
import { type Answer, at, poll, startTest, type TestPlatform } from "../platform/harness.ts";
import { account, aws, listOf, of, pair, params, placeOf, small, startup, v } from "../platform/vendor.ts";
import { readContract } from "./contract.ts";

const contract = readContract("platform.yaml");
const tags = [{ key: "owner", value: "us" }];

let test: TestPlatform;
beforeAll(async () => {
  test = await startTest({ profile: "falkordb-cloud", autoBootstrap: true });
});
afterAll(() => test.close());

type Method = Parameters<typeof contract.answerFaults>[0]["method"];

/** Sends a request, and holds it and its answer to the vendor's API. */
async function ask(method: Method, path: string, body?: Json): Promise<Answer> {
  const answer = await test.call(method, path, body);
  const [bare = path] = path.split("?");
  const headers = { "content-type": answer.headers.get("content-type") ?? "" };
  const response = { status: answer.status, headers, body: answer.text };
  expect(contract.operationOf(method, bare), `${method} ${bare}`).toBeDefined();
  expect(
    contract.answerFaults({ method, path: bare }, response),
    `${method} ${bare}: ${answer.text}`,
  ).toEqual([]);
  return answer;
}

it("instances in every status, in lists, changed, refused, failed over, copied, restored", async () => {
  const top = { cloud_provider: "aws", region: "us-east-1", customTags: tags };
  const made = await ask("POST", `${pair}?subscriptionId=sub-pro`, { ...top, requestParams: params });
  expect(made.status).toBe(202);
  const path = `${pair}/${made.body["id"]}`;
  expect((await ask("GET", `${v}/resource-instance/snapshot`)).body).toEqual({});
  await ask("GET", path);
  await test.until(path, "RUNNING");
  await ask("GET", `${path}?subscriptionId=sub-pro`);
  await ask("GET", `${path}?subscriptionId=sub-free`);
  await ask("GET", pair);
  await ask("GET", `${v}/resource-instance?environmentType=PROD`);
  for (const [method, at, body] of [
    ["PATCH", path, { requestParams: { name: "two" } }],
    ["PATCH", path, { requestParams: { falkorDBCacheSize: 1 } }],
    ["POST", `${path}/stop`, undefined],
    ["POST", `${path}/start`, undefined],
    ["POST", `${path}/restart`, undefined],
    ["POST", `${of("pro")}/node-sz/${made.body["id"]}/failover`, { failedReplicaID: "node-sz-0" }],
    ["POST", `${v}/resource-instance/snapshot`, { instanceId: String(made.body["id"]) }],
  ] as const) {
    expect([202, 400]).toContain((await ask(method, at, body)).status);
    await test.until(path, at.endsWith("/stop") ? "STOPPED" : "RUNNING");
  }
  const snapshot = await poll(async () => {
    const { body } = await ask("GET", `${path}/snapshot`);
    return listOf(body["snapshots"]).find(({ status }) => status === "COMPLETE");
  }, "the snapshot");
  const one = `${v}/resource-instance/snapshot/${snapshot["snapshotId"]}`;
  await ask("GET", `${v}/resource-instance/snapshot`);
  await ask("GET", one);
  await ask("POST", one, { targetRegion: "eu-west-1" });
  await ask("POST", `${path}/copy-snapshot`, { targetRegion: "eu-west-1" });
  const restored = await ask("POST", `${one}/restore`, {});
  await test.until(`${pair}/${restored.body["instanceId"]}`, "RUNNING");
  await ask("GET", `${pair}/${restored.body["instanceId"]}`);
  const { body: shown } = await ask("GET", path);
  const time = String(at(shown, "backupStatus", "earliestRestoreTime"));
  const again = await ask("POST", `${path}/restore`, { targetRestoreTime: time, network_type: "PUBLIC" });
  expect(again.status).toBe(202);
  await test.until(`${pair}/${again.body["id"]}`, "RUNNING");
  expect((await ask("POST", `${path}/restore`, { targetRestoreTime: "2020-01-01T00:00:00Z" })).status).toBe(
    400,
  );
  const upgrade = `${v}/resource-instance/${made.body["id"]}/version-upgrade`;
  expect((await ask("POST", upgrade, placeOf(pair))).status).toBe(202);
  await test.until(path, "RUNNING");
  expect((await ask("POST", upgrade, placeOf(pair))).status).toBe(400);
  await ask("GET", `${v}/resource-instance/${made.body["id"]}/audit-events`);
  expect((await ask("PATCH", `${path}/metadata`, { deletionProtection: false })).status).toBe(202);
  await ask("DELETE", one);
  await ask("DELETE", path);
  await test.until(path, 404);
  await ask("GET", path);
});

it("accounts, disconnected and connected again", async () => {
  const made = await ask("POST", `${account}?subscriptionId=sub-enterprise-byoa`, aws);
  const path = `${account}/${made.body["id"]}`;
  await test.until(path, "READY");
  const connection = `${v}/resource-instance/account-config/${made.body["id"]}`;
  const body = { serviceId: "s-local", subscriptionId: "sub-enterprise-byoa" };
  for (const [setConnection, status] of [
    [false, "DISCONNECTED"],
    [true, "READY"],
  ] as const) {
    expect((await ask("POST", connection, { ...body, setConnection })).status).toBe(202);
    await test.until(path, status);
    await ask("GET", path);
  }
  expect((await ask("POST", connection, { ...body, setConnection: true })).status).toBe(409);
});

it("plans, subscriptions, networks, sessions", async () => {
  await ask("GET", `${v}/service-offering`);
  await ask("GET", `${v}/service-offering/s-local`);
  await ask("GET", `${v}/subscription`);
  await ask("GET", `${v}/subscription/sub-pro`);
  const networks = `${v}/resource-instance/custom-network`;
  const { body } = await ask("POST", networks, {
    cloudProviderName: "aws",
    cloudProviderRegion: "us-east-1",
  });
  await ask("GET", networks);
  await ask("GET", `${networks}/${body["id"]}`);
  await ask("PATCH", `${networks}/${body["id"]}`, { name: "core" });
  await ask("DELETE", `${networks}/${body["id"]}`);
  await ask("POST", `${v}/refresh-token`, { refreshToken: "none" });
  expect((await ask("POST", `${v}/logout`, {})).body).toEqual({});
});

it("refusals of a create", async () => {
  const top = { cloud_provider: "aws", region: "us-east-1" };
  const refused = await ask("POST", startup, { ...top, requestParams: { ...small, falkorDBCacheSize: 0 } });
  expect(refused.status).toBe(400);
});
