import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isObject, type Json, type JsonObject } from "../../src/model/json.ts";
import { at, basic, poll, signinPath, startTest, type TestPlatform } from "./harness.ts";

const v = "/2022-09-01-00";
const base = `${v}/resource-instance/sp-JvkxkPhinN/falkordb/v1/prod`;
const of = (tier: string, tenancy = "falkordb-customer-hosted-model-omnistrate-dedicated-tenancy"): string =>
  `${base}/falkordb-${tier}-customer-hosted/falkordb-${tier}-${tenancy}`;
const pro = `${of("pro")}/standalone`;
const pair = `${of("pro")}/single-Zone`;
const startup = `${of("startup", "falkordb-customer-hosted-model-omnistrate-multi-tenancy")}/standalone`;
const params = {
  name: "one",
  nodeInstanceType: "m7g.large",
  falkordbUser: "app",
  falkordbPassword: "a-password-of-ours",
  falkorDBCacheSize: 30,
};
const small = { name: "small", falkordbPassword: "a-password-of-ours" };

let test: TestPlatform;
beforeAll(async () => {
  test = await startTest({ profile: "falkordb-cloud" });
});
afterAll(() => test.close());

describe("sessions", () => {
  it("has no refresh token in any answer", async () => {
    const basicAnswer = await test.bare("POST", signinPath, undefined, basic(test.username, test.password));
    const jsonAnswer = await test.bare("POST", `${v}/signin`, {
      email: test.username,
      password: test.password,
    });
    expect(Object.keys(basicAnswer.body)).toEqual(["token"]);
    expect(Object.keys(jsonAnswer.body)).toEqual(["jwtToken"]);
    for (const { headers } of [basicAnswer, jsonAnswer])
      expect(headers.getSetCookie().map((cookie) => cookie.split("=")[0])).toEqual(["omnistrate_token"]);
    expect((await test.bare("POST", `${v}/refresh-token`, {})).status).toBe(400);
  });

  it("takes a bearer and its own cookie, and no other one", async () => {
    const ask = (headers: { readonly [name: string]: string }) =>
      test.bare("GET", `${v}/user`, undefined, headers);
    expect((await ask({ authorization: `Bearer ${test.token()}` })).status).toBe(200);
    expect((await ask({ cookie: `omnistrate_token=${test.token()}` })).status).toBe(200);
    const other = await ask({ cookie: `svc_token=${test.token()}` });
    expect([other.status, other.body["message"]]).toEqual([400, expect.stringMatching(/token is missing/)]);
  });

  it("signs out", async () => {
    const answer = await test.call("POST", `${v}/logout`, {});
    expect([answer.status, answer.body]).toEqual([200, {}]);
  });
});

describe("instances", () => {
  it("are read and shown in the vendor's words alone", async () => {
    const id = await test.create(pro, params);
    const { body, text } = await test.until(`${pro}/${id}`, "RUNNING");
    expect(text).not.toMatch(/graphdb|graphDB/);
    expect(body["result_params"]).toEqual({ ...params, falkorDBCacheSize: "30" });
    expect(body).toMatchObject({
      subscriptionId: "sub-pro",
      tierVersion: "1.0",
      active: true,
      customTags: [],
    });
    expect(Object.keys(body)).toEqual(expect.arrayContaining(["created_at", "last_modified_at"]));
    expect(Object.keys(body)).not.toContain("last_modified");
  });

  it("have the plan's default user", async () => {
    const id = await test.create(startup, small);
    const { body } = await test.until(`${startup}/${id}`, "RUNNING");
    expect(at(body, "result_params", "falkordbUser")).toBe("falkordb");
    const users = await test.call(
      "GET",
      `/v1/customer-ldap/instances/${id}/users?subscriptionId=sub-startup`,
      undefined,
      {
        authorization: `Bearer ${test.token()}`,
      },
    );
    expect(users.text).toContain('"username":"falkordb"');
  });

  it.each([
    [
      "a name of the specification",
      pro,
      { ...params, graphdbUser: "app" },
      /requestParams\.graphdbUser is not known/,
    ],
    [
      "a field of no plan",
      pro,
      { ...params, enableEnterpriseModule: false },
      /enableEnterpriseModule is not known/,
    ],
    ["no password", startup, { name: "x" }, /falkordbPassword is required/],
    [
      "no instance type on pro",
      pro,
      { falkordbPassword: "a-password-of-ours" },
      /nodeInstanceType is required/,
    ],
    [
      "a value out of bounds",
      pro,
      { ...params, falkorDBCacheSize: 9999 },
      /falkorDBCacheSize must be between/,
    ],
  ])("are not created with %s", async (_what, path, requestParams, message) => {
    const answer = await test.call("POST", path, {
      cloud_provider: "aws",
      region: "us-east-1",
      requestParams,
    });
    expect([answer.status, answer.body["message"]]).toEqual([400, expect.stringMatching(message)]);
  });

  it("are changed by PATCH, and by nothing else", async () => {
    const id = await test.create(startup, small);
    await test.until(`${startup}/${id}`, "RUNNING");
    const body = { requestParams: { name: "changed", falkordbPassword: "another-password" } };
    expect((await test.call("PUT", `${startup}/${id}`, body)).status).toBe(404);
    expect((await test.call("PATCH", `${startup}/${id}`, body)).status).toBe(202);
    const { body: after } = await test.until(`${startup}/${id}`, "RUNNING");
    expect(after["result_params"]).toMatchObject({ name: "changed", falkordbPassword: "another-password" });
    const fixed = await test.call("PATCH", `${startup}/${id}`, { requestParams: { falkorDBCacheSize: 1 } });
    expect(fixed.body["message"]).toMatch(/falkorDBCacheSize is fixed after deployment/);
  });

  it("have no path of the default profile", async () => {
    const path = `${v}/resource-instance/sp-default/graphdb/v1/prod/hosted/pro/standalone`;
    expect((await test.call("GET", path)).status).toBe(404);
    expect((await test.call("GET", `${of("pro")}/single-zone`)).status).toBe(404);
  });

  it("are not deleted while they are protected", async () => {
    const id = await test.create(startup, small);
    const path = `${startup}/${id}`;
    await test.until(path, "RUNNING");
    const protect = (deletionProtection: boolean) =>
      test.call("PATCH", `${path}/metadata`, { deletionProtection });
    expect((await protect(true)).status).toBe(202);
    expect(at((await test.call("GET", path)).body, "resourceInstanceMetadata")).toEqual({
      deletionProtection: true,
    });
    const refused = await test.call("DELETE", path);
    expect([refused.status, refused.body["name"]]).toEqual([409, "invalid_state"]);
    expect((await protect(false)).status).toBe(202);
    expect((await test.call("DELETE", path)).status).toBe(202);
    await test.until(path, 404);
  });

  it("show their tags, also in the list of all", async () => {
    const tags = [{ key: "owner", value: "us" }];
    const id = await test.create(startup, small, { customTags: tags });
    expect((await test.call("GET", `${startup}/${id}`)).body["customTags"]).toEqual(tags);
    const all = await test.call("GET", `${v}/resource-instance?environmentType=PROD`);
    expect(listOf(all.body["resourceInstances"]).find((each) => each["id"] === id)?.["customTags"]).toEqual(
      tags,
    );
    await test.until(`${startup}/${id}`, "RUNNING");
    const changed = [{ key: "owner", value: "them" }];
    await test.call("PATCH", `${startup}/${id}/metadata`, { customTags: changed });
    expect((await test.call("GET", `${startup}/${id}`)).body["customTags"]).toEqual(changed);
    const { body } = await test.call("GET", `${v}/resource-instance/${id}/audit-events`);
    expect(listOf(body["events"]).map((event) => event["message"])).toContain("metadata changed: customTags");
  });

  it("show their network whole, as long as they live in it", async () => {
    const networks = `${v}/resource-instance/custom-network`;
    const place = {
      cloudProviderName: "aws",
      cloudProviderRegion: "us-east-1",
      name: "core",
      cidr: "10.9.0.0/16",
    };
    const made = await test.call("POST", `${networks}?subscriptionId=sub-enterprise`, place);
    expect(made.status).toBe(200);
    const network = String(made.body["id"]);
    const path = `${of("enterprise")}/standalone`;
    const id = await test.create(path, params, { custom_network_id: network, network_type: "INTERNAL" });
    const { body } = await test.until(`${path}/${id}`, "RUNNING");
    expect(body["customNetworkDetail"]).toEqual({ id: network, name: "core", cidr: "10.9.0.0/16" });
    expect(body).not.toHaveProperty("custom_network");
    expect((await test.call("DELETE", `${networks}/${network}`)).status).toBe(409);
    await test.call("DELETE", `${path}/${id}`);
    await test.until(`${path}/${id}`, 404);
    expect((await test.call("DELETE", `${networks}/${network}`)).status).toBe(200);
  });
});

describe("topology", () => {
  it("has nodes beside the public component, without roles, and one credential that is no output", async () => {
    const id = await test.create(pair, params);
    const { body } = await test.until(`${pair}/${id}`, "RUNNING");
    const entries = topologyOf(body);
    const one = (key: string): JsonObject => entries.find((entry) => entry["resourceKey"] === key) ?? {};
    expect(entries.map((entry) => entry["resourceKey"]).sort()).toEqual([
      "node-sz",
      "omnistrateobserv",
      "rebalance-sz",
      "sentinel-sz",
      "single-Zone",
    ]);
    expect(one("single-Zone")).toMatchObject({
      main: true,
      hasCompute: false,
      nodes: [],
      clusterEndpoint: "",
    });
    expect(one("node-sz")).toMatchObject({ main: false, hasCompute: true, clusterEndpoint: "127.0.0.1" });
    expect(listOf(one("node-sz")["nodes"]).map((node) => [node["id"], node["role"]])).toEqual([
      ["node-sz-0", undefined],
      ["node-sz-1", undefined],
    ]);
    expect(one("sentinel-sz")).toMatchObject({
      clusterEndpoint: `sentinel-sz.${id}.invalid`,
      clusterPorts: [26_379],
    });
    expect(one("rebalance-sz")).toMatchObject({ isJob: true, clusterEndpoint: "" });
    const observer = String(one("omnistrateobserv")["clusterEndpoint"]);
    expect(observer).toMatch(/^observer:[\w-]{20,}@omnistrateobserv\..*\.invalid:443$/);
    const [, password = ""] = observer.split(/[:@]/);
    const status = await test.call("GET", "/_platform/status");
    const log = await test.call("GET", "/_platform/requests");
    expect(status.text + log.text).not.toContain(password);
  });

  it("has its entries in the order of their ids, in which anything may come first", async () => {
    const components = ["standalone", "single-Zone", "multi-Zone"];
    const paths = ["pro", "enterprise"].flatMap((tier) => components.map((each) => `${of(tier)}/${each}`));
    const firsts = await Promise.all(
      paths.map(async (path) => {
        const id = await test.create(path, params);
        const { body } = await test.until(`${path}/${id}`, "RUNNING");
        const ids = Object.keys(
          isObject(body["detailedNetworkTopology"]) ? body["detailedNetworkTopology"] : {},
        );
        expect(ids).toEqual([...ids].sort());
        expect(ids).toContain(body["resourceID"]);
        return String(topologyOf(body)[0]?.["resourceKey"]).replace(/-[sm]?z?$/, "");
      }),
    );
    expect(new Set(firsts).size).toBeGreaterThan(2);
  });
});

describe("failover", () => {
  const fail = (from: TestPlatform, path: string, body: JsonObject) =>
    from.call("POST", `${path}/failover`, body);

  it.each([
    ["either", "node-sz", 202],
    ["either", "single-Zone", 202],
    ["node", "node-sz", 202],
    ["node", "single-Zone", 404],
    ["component", "node-sz", 404],
    ["component", "single-Zone", 202],
    ["either", "sentinel-sz", 404],
  ] as const)("with --failover-path %s the path of %s answers %i", async (failoverPath, key, status) => {
    const own = await startTest({ profile: "falkordb-cloud", failoverPath });
    try {
      const id = await own.create(pair, params);
      await own.until(`${pair}/${id}`, "RUNNING");
      const answer = await fail(own, `${of("pro")}/${key}/${id}`, {
        failedReplicaID: "node-sz-0",
        failedReplicaAction: "FAILOVER_ONLY",
      });
      expect(answer.status).toBe(status);
    } finally {
      await own.close();
    }
  });

  it("takes the API's keys and the portal's, and none of the specification's", async () => {
    const id = await test.create(pair, params);
    await test.until(`${pair}/${id}`, "RUNNING");
    const snake = await fail(test, `${pair}/${id}`, {
      failed_replica_id: "node-sz-0",
      failed_replica_action: "FAILOVER_ONLY",
    });
    expect([snake.status, snake.body["message"]]).toEqual([
      400,
      expect.stringMatching(/failed_replica_id is not a field/),
    ]);
    expect((await fail(test, `${pair}/${id}`, {})).body["message"]).toBe("failedReplicaID is required");
    expect((await fail(test, `${pair}/${id}`, { failedReplicaId: "node-sz-0" })).status).toBe(202);
  });
});

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
      expect((await own.call("DELETE", path)).status).toBe(202);
      expect((await own.call("GET", path)).status).toBe(404);
    } finally {
      await own.close();
    }
  });
});

describe("subscriptions", () => {
  it("are one for each plan", async () => {
    const { body } = await test.call("GET", `${v}/subscription`);
    expect(listOf(body["subscriptions"]).map(({ id, productTierId }) => [id, productTierId])).toEqual(
      ["enterprise-byoa", "enterprise", "pro", "startup", "free"].map((tier) => [
        `sub-${tier}`,
        `pt-${tier}`,
      ]),
    );
  });

  it("of another plan are refused by every operation of a component, and by the users host", async () => {
    const id = await test.create(`${startup}?subscriptionId=sub-startup`, small);
    await test.until(`${startup}/${id}?subscriptionId=sub-startup`, "RUNNING");
    const requests = [
      ["GET", startup],
      ["POST", startup],
      ["GET", `${startup}/${id}`],
      ["PATCH", `${startup}/${id}`],
      ["DELETE", `${startup}/${id}`],
      ["POST", `${startup}/${id}/stop`],
      ["POST", `${startup}/${id}/failover`],
      ["PATCH", `${startup}/${id}/metadata`],
      ["GET", `${startup}/${id}/snapshot`],
    ] as const;
    for (const [method, path] of requests) {
      const answer = await test.call(
        method,
        `${path}?subscriptionId=sub-pro`,
        method === "GET" ? undefined : {},
      );
      expect([method, path, answer.status]).toEqual([method, path, 403]);
    }
    const made = await test.call("POST", `${v}/resource-instance/snapshot?subscriptionId=sub-pro`, {
      instanceId: id,
    });
    expect(made.status).toBe(403);
    const users = await test.call(
      "GET",
      `/v1/customer-ldap/instances/${id}/users?subscriptionId=sub-pro`,
      undefined,
      {
        authorization: `Bearer ${test.token()}`,
      },
    );
    expect([users.status, users.body["error"]]).toEqual([400, "Bad Request"]);
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

function topologyOf(body: JsonObject): readonly JsonObject[] {
  const topology = body["detailedNetworkTopology"];
  return isObject(topology) ? listOf(Object.values(topology)) : [];
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function lengthOf(value: Json | undefined): number {
  return Array.isArray(value) ? value.length : 0;
}
