import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, basic, signinPath, startTest, type TestPlatform } from "./harness.ts";
import { listOf, of, params, pro, small, startup, v } from "./vendor.ts";

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

  it("are created with what the vendor's own tests send and no plan has, which is not kept", async () => {
    const sent = { ...params, storageSize: "30", hostCount: null, clusterReplicas: null };
    const id = await test.create(pro, sent, { productTierVersion: null });
    const { body } = await test.until(`${pro}/${id}`, "RUNNING");
    expect(body["result_params"]).toEqual({ ...params, falkorDBCacheSize: "30" });
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

  it("are listed of clusters, of which none can be made here; pro has none", async () => {
    const cluster = `${of("enterprise")}/cluster-Multi-Zone`;
    expect((await test.call("GET", cluster)).body).toEqual({ ids: [] });
    const body = { cloud_provider: "aws", region: "us-east-1", requestParams: params };
    expect((await test.call("POST", cluster, body)).body["message"]).toMatch(
      /does not run cluster-Multi-Zone/,
    );
    expect((await test.call("GET", `${of("pro")}/cluster-Multi-Zone`)).status).toBe(404);
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

  it("choose nothing in the list of all plans, which takes none", async () => {
    const id = await test.create(startup, small);
    const all = await test.call("GET", `${v}/resource-instance?environmentType=PROD&subscriptionId=sub-pro`);
    expect(listOf(all.body["resourceInstances"]).map((each) => each["id"])).toContain(id);
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
