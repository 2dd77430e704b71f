import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../src/model/json.ts";
import { components, startTest, type TestPlatform } from "./harness.ts";

let test: TestPlatform;
let accountConfigId = "";
let networkId = "";
beforeAll(async () => {
  test = await startTest({ autoBootstrap: true });
  const account = await test.call(
    "POST",
    `${components}/byoa/enterprise-byoa/cloud-account?subscriptionId=sub-1`,
    {
      cloud_provider: "aws",
      requestParams: {
        cloud_provider: "aws",
        aws_account_id: "123456789012",
        aws_bootstrap_role_arn: "arn:aws:iam::123456789012:role/bootstrap",
        account_configuration_method: "Terraform",
      },
    },
  );
  const path = `${components}/byoa/enterprise-byoa/cloud-account/${account.body["id"]}`;
  const ready = await test.until(path, "READY");
  const { result_params } = ready.body;
  accountConfigId = JSON.parse(JSON.stringify(result_params)).cloud_provider_account_config_id;
  const network = await test.call("POST", "/_platform/networks", {
    name: "core",
    cloudProvider: "aws",
    region: "us-east-1",
  });
  networkId = String(network.body["id"]);
});
afterAll(() => test.close());

/** Specification 2.2, "Availability of fields by tier", typed by hand: BYOA, Enterprise, Pro, Startup, Free. */
const tierPaths = [
  "byoa/enterprise-byoa/standalone",
  "hosted/enterprise/standalone",
  "hosted/pro/standalone",
  "hosted/startup/standalone",
  "hosted/free/free",
];
const availability: readonly [string, Json, string][] = [
  ["name", "n", "YYYYY"],
  ["description", "d", "YYYYY"],
  ["graphdbUser", "app_1", "YYYYY"],
  ["graphdbPassword", "s3cret-word", "YYYYY"],
  ["nodeInstanceType", "m7g.large", "YYYnn"],
  ["enableTLS", true, "YYYYn"],
  ["enableEnterpriseModule", true, "YYnnn"],
  ["maxMemory", "6GB", "YYnnn"],
  ["memoryRequestsAndLimits", "1200M", "nnnYn"],
  ["numReplicas", 2, "nnnnn"],
  ["AOFPersistenceConfig", "always", "YYYYn"],
  ["RDBPersistenceConfig", "medium", "YYYYn"],
  ["graphDBCacheSize", 30, "YYYYn"],
  ["graphDBMaxQueuedQueries", 60, "YYYYn"],
  ["graphDBNodeCreationBuffer", 512, "YYYYn"],
  ["graphDBQueryMemCapacity", 5_242_880, "YYYYn"],
  ["graphDBResultSetSize", 0, "YYYYn"],
  ["graphDBTimeoutDefault", 45_000, "YYYYn"],
  ["graphDBTimeoutMax", 45_000, "YYYYn"],
  ["cloud_provider_native_network_id", "vpc-1", "Ynnnn"],
];

const matrix = availability.flatMap(([field, value, row]) =>
  tierPaths.map((path, column): [string, Json, string, boolean] => [field, value, path, row[column] === "Y"]),
);

function attempt(path: string, params: JsonObject, top: JsonObject = {}) {
  const byoa = path.startsWith("byoa") ? { cloud_provider_account_config_id: accountConfigId } : {};
  return test.call("POST", `${components}/${path}`, {
    cloud_provider: "aws",
    region: "us-east-1",
    ...top,
    requestParams: { ...byoa, ...params },
  });
}

describe("tier matrix", () => {
  it.each(matrix)("%s (%j) on %s: %s", async (field, value, path, isOffered) => {
    const answer = await attempt(path, { [field]: value });
    expect(answer.status).toBe(isOffered ? 202 : 400);
    if (!isOffered) expect(answer.body["message"]).toContain(field);
  });

  it.each([
    ["byoa/enterprise-byoa", "single-zone"],
    ["byoa/enterprise-byoa", "multi-zone"],
    ["hosted/enterprise", "single-zone"],
    ["hosted/enterprise", "multi-zone"],
    ["hosted/pro", "single-zone"],
    ["hosted/pro", "multi-zone"],
  ])("numReplicas on %s/%s", async (tier, component) => {
    expect((await attempt(`${tier}/${component}`, { numReplicas: 2 })).status).toBe(202);
    expect((await attempt(`${tier}/${component}`, { numReplicas: 3 })).status).toBe(400);
  });

  it.each(tierPaths)("custom_network_id and the account field on %s", async (path) => {
    const inNetwork = await attempt(path, {}, { custom_network_id: networkId });
    expect(inNetwork.status).toBe(path.includes("hosted/enterprise/") ? 202 : 400);
    const inAccount = await test.call("POST", `${components}/${path}`, {
      cloud_provider: "aws",
      region: "us-east-1",
      requestParams: { cloud_provider_account_config_id: accountConfigId },
    });
    expect(inAccount.status).toBe(path.startsWith("byoa") ? 202 : 400);
  });

  it("byoa needs an account configuration that exists, is ready and of the same provider", async () => {
    const path = `${components}/byoa/enterprise-byoa/standalone`;
    const at = (cloud_provider: string, requestParams: JsonObject) =>
      test.call("POST", path, { cloud_provider, region: "us-east-1", requestParams });
    expect((await at("aws", {})).body["message"]).toContain("cloud_provider_account_config_id is required");
    expect((await at("aws", { cloud_provider_account_config_id: "ac-none" })).status).toBe(400);
    expect((await at("gcp", { cloud_provider_account_config_id: accountConfigId })).status).toBe(400);
  });
});

/** Specification 2.2, "Allowed values", at, below and above each bound. */
const bounds: readonly [string, readonly Json[], readonly Json[]][] = [
  ["graphDBCacheSize", [1, 256], [0, 257, 1.5, "25", null, true]],
  ["graphDBMaxQueuedQueries", [1, 512], [0, 513]],
  ["graphDBNodeCreationBuffer", [256, 32_768], [255, 32_769]],
  ["graphDBQueryMemCapacity", [5_242_880, 21_474_836_480], [5_242_879, 21_474_836_481]],
  ["graphDBResultSetSize", [0, 1_000_000], [-1, 1_000_001]],
  ["graphDBTimeoutDefault", [0, 45_000], [-1, 45_001]],
  ["graphDBTimeoutMax", [0, 45_000], [-1, 45_001]],
  ["AOFPersistenceConfig", ["everysec", "always"], ["no", "Always", ""]],
  ["RDBPersistenceConfig", ["low", "medium", "high"], ["none", 1]],
  ["enableTLS", [true, false], ["true", 1, null]],
  ["enableEnterpriseModule", [true, false], ["false"]],
  ["graphdbUser", ["a", "A_9"], ["", "a-b", "a b", "é", "a\n", 7]],
  ["graphdbPassword", ["x", "x".repeat(16_384)], ["", 5, "é".repeat(8193)]],
  [
    "maxMemory",
    ["6GB", "512MB", "8GB", "8G", "10M", "9766KB"],
    ["0GB", "GB", "-1GB", "6 gigabytes", 6, "1B", "1", "9M", "9765KB", "9GB", "999999999999TB"],
  ],
  ["name", ["any string", ""], [7, null, ["a"]]],
];

describe("bounds", () => {
  it.each(
    bounds.flatMap(([field, right, wrong]) => [
      ...right.map((v) => [field, v, 202]),
      ...wrong.map((v) => [field, v, 400]),
    ]),
  )("%s %j: %d", async (field, value, status) => {
    const answer = await attempt("hosted/enterprise/standalone", { [String(field)]: value ?? null });
    expect([answer.status, answer.text]).toEqual([
      status,
      expect.stringContaining(status === 400 ? String(field) : "id"),
    ]);
  });

  it.each([
    ["1200M", 202],
    ["2200M", 202],
    ["1GB", 400],
  ])("memoryRequestsAndLimits %s: %d", async (value, status) => {
    expect((await attempt("hosted/startup/standalone", { memoryRequestsAndLimits: value })).status).toBe(
      status,
    );
  });

  it.each([
    [
      "fits exactly",
      "hosted/enterprise/standalone",
      { nodeInstanceType: "m7g.large", maxMemory: "8GB" },
      202,
    ],
    [
      "is one MB too much",
      "hosted/enterprise/standalone",
      { nodeInstanceType: "m7g.large", maxMemory: "8193MB" },
      400,
    ],
    [
      "8G is less than 8GB",
      "hosted/enterprise/standalone",
      { nodeInstanceType: "m7g.large", maxMemory: "8.5G" },
      202,
    ],
    [
      "of a type nobody knows",
      "hosted/enterprise/standalone",
      { nodeInstanceType: "x9.huge", maxMemory: "900GB" },
      202,
    ],
    [
      "of a type nobody knows, more than any machine has",
      "hosted/enterprise/standalone",
      { nodeInstanceType: "x9.huge", maxMemory: "65TB" },
      400,
    ],
    [
      "of no type: more than the default one has",
      "hosted/enterprise/standalone",
      { maxMemory: "900GB" },
      400,
    ],
    ["the Pro list", "hosted/pro/standalone", { nodeInstanceType: "m7g.large" }, 202],
    ["not in the Pro list", "hosted/pro/standalone", { nodeInstanceType: "x9.huge" }, 400],
    ["a type of another provider", "hosted/pro/standalone", { nodeInstanceType: "e2-medium" }, 400],
    ["a name of Object.prototype", "hosted/pro/standalone", { nodeInstanceType: "constructor" }, 400],
    [
      "default above max",
      "hosted/pro/standalone",
      { graphDBTimeoutDefault: 200, graphDBTimeoutMax: 100 },
      400,
    ],
    ["no max", "hosted/pro/standalone", { graphDBTimeoutDefault: 200, graphDBTimeoutMax: 0 }, 202],
  ])("memory, types and timeouts: %s", async (_why, path, params, status) => {
    expect((await attempt(path, params)).status).toBe(status);
  });
});

describe("malformed creates", () => {
  it.each([
    ["no body", undefined],
    ["a list", []],
    ["no provider", { region: "us-east-1", requestParams: {} }],
    ["no region", { cloud_provider: "aws", requestParams: {} }],
    ["an unknown provider", { cloud_provider: "ibm", region: "us-east-1" }],
    ["a region that climbs", { cloud_provider: "aws", region: "../../etc" }],
    ["an unknown top-level field", { cloud_provider: "aws", region: "us-east-1", cloudProvider: "aws" }],
    ["a setting at the top level", { cloud_provider: "aws", region: "us-east-1", name: "x" }],
    ["an unknown setting", { cloud_provider: "aws", region: "us-east-1", requestParams: { nmae: "x" } }],
    ["requestParams as a list", { cloud_provider: "aws", region: "us-east-1", requestParams: [] }],
    [
      "a network that does not exist",
      { cloud_provider: "aws", region: "us-east-1", custom_network_id: "n-none" },
    ],
    ["a network elsewhere", { cloud_provider: "aws", region: "eu-west-1", custom_network_id: "CORE" }],
    ["tags of a wrong shape", { cloud_provider: "aws", region: "us-east-1", customTags: [{ key: 1 }] }],
  ])("%s", async (_why, body) => {
    const sent: Json | undefined =
      body === undefined ? undefined : JSON.parse(JSON.stringify(body).replace("CORE", networkId));
    const answer = await test.call("POST", `${components}/hosted/enterprise/standalone`, sent);
    expect([answer.status, answer.body["name"]]).toEqual([400, "bad_request"]);
  });

  it("__proto__ in a body is an unknown field and nothing else", async () => {
    const response = await fetch(new URL(`${components}/hosted/pro/standalone`, test.platform.url), {
      method: "POST",
      headers: { "content-type": "application/json", cookie: `svc_token=${test.token()}` },
      body: '{"cloud_provider":"aws","region":"us-east-1","requestParams":{"__proto__":{"name":"x"}}}',
    });
    expect(response.status).toBe(400);
    expect(Object.hasOwn(Object.prototype, "name")).toBe(false);
  });

  it("names every problem at once", async () => {
    const { body } = await test.call("POST", `${components}/hosted/pro/standalone`, {
      region: "us-east-1",
      requestParams: { graphDBCacheSize: 0, enableTLS: "yes", maxMemory: "1GB" },
    });
    for (const word of ["cloud_provider", "graphDBCacheSize", "enableTLS", "maxMemory"])
      expect(body["message"]).toContain(word);
  });
});
