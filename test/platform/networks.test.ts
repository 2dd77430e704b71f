import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { components, enterprise, startTest, type TestPlatform } from "./harness.ts";

const path = "/2022-09-01-00/resource-instance/custom-network";

let adopting: TestPlatform;
let full: TestPlatform;
beforeAll(async () => {
  const networkSeeds = [
    { id: "n-12345678", name: "core", cloudProvider: "aws", region: "us-east-1", cidr: "10.1.0.0/16" },
  ];
  adopting = await startTest({ networkSeeds });
  full = await startTest({ networks: "full" });
});
afterAll(() => Promise.all([adopting.close(), full.close()]));

describe("networks that can only be adopted (the default)", () => {
  it("are described and renamed (4.6)", async () => {
    const found = await adopting.call("GET", `${path}/n-12345678`);
    expect(found.body).toMatchObject({
      id: "n-12345678",
      name: "core",
      cloudProviderName: "aws",
      cloudProviderRegion: "us-east-1",
      cidr: "10.1.0.0/16",
    });
    const renamed = await adopting.call("PATCH", `${path}/n-12345678`, { name: "core-prod" });
    expect([renamed.status, renamed.body["name"], renamed.body["cidr"]]).toEqual([
      200,
      "core-prod",
      "10.1.0.0/16",
    ]);
    expect((await adopting.call("GET", `${path}/n-12345678`)).body["name"]).toBe("core-prod");
  });

  it.each([
    ["cidr", { cidr: "10.9.0.0/16" }],
    ["provider", { name: "x", cloudProviderName: "gcp" }],
    ["region", { cloudProviderRegion: "eu-west-1" }],
    ["a name that is no text", { name: 7 }],
    ["no object", ["name"]],
  ])("cannot be changed in %s", async (_why, body) => {
    expect((await adopting.call("PATCH", `${path}/n-12345678`, body)).status).toBe(400);
    expect((await adopting.call("GET", `${path}/n-12345678`)).body["cidr"]).toBe("10.1.0.0/16");
  });

  it.each([
    ["GET", path, undefined],
    ["POST", path, { cloudProviderName: "aws", cloudProviderRegion: "us-east-1" }],
    ["DELETE", `${path}/n-12345678`, undefined],
    ["GET", `${path}/n-none`, undefined],
    ["PATCH", `${path}/n-none`, { name: "x" }],
  ])("%s %s is not found", async (method, where, body) => {
    expect((await adopting.call(method, where, body)).status).toBe(404);
  });
});

describe("networks in full", () => {
  it("are created, listed by provider and region, deleted once nobody lives in them", async () => {
    const created = await full.call("POST", path, {
      name: "a",
      cloudProviderName: "aws",
      cloudProviderRegion: "us-east-1",
    });
    expect([created.status, created.body["cidr"], created.body["status"]]).toEqual([
      200,
      "10.0.0.0/16",
      "READY",
    ]);
    const id = String(created.body["id"]);
    await full.call("POST", path, { name: "b", cloudProviderName: "gcp", cloudProviderRegion: "us-east1" });
    const names = async (query: string): Promise<string[]> =>
      JSON.parse((await full.call("GET", `${path}${query}`)).text).customNetworks.map(
        (network: { name: string }) => network.name,
      );
    expect(await names("")).toEqual(["a", "b"]);
    expect(await names("?cloudProviderName=gcp")).toEqual(["b"]);
    expect(await names("?cloudProviderName=gcp&cloudProviderRegion=us-east-1")).toEqual([]);

    const instance = await full.create(enterprise, {}, { custom_network_id: id });
    const refused = await full.call("DELETE", `${path}/${id}`);
    expect([refused.status, refused.body["name"]]).toEqual([409, "invalid_state"]);
    expect(refused.body["message"]).toContain(instance);
    await full.until(`${enterprise}/${instance}`, "RUNNING");
    await full.call("DELETE", `${enterprise}/${instance}`);
    await full.until(`${enterprise}/${instance}`, 404);
    expect((await full.call("DELETE", `${path}/${id}`)).status).toBe(200);
    expect((await full.call("GET", `${path}/${id}`)).status).toBe(404);
  });

  it.each([
    ["no provider", { cloudProviderRegion: "us-east-1" }],
    ["an unknown provider", { cloudProviderName: "ibm", cloudProviderRegion: "us-east-1" }],
    ["no region", { cloudProviderName: "aws" }],
    ["a malformed cidr", { cloudProviderName: "aws", cloudProviderRegion: "us-east-1", cidr: "10.0.0.0/40" }],
    ["an unknown field", { cloudProviderName: "aws", cloudProviderRegion: "us-east-1", zone: "a" }],
  ])("refuses %s", async (_why, body) => {
    expect((await full.call("POST", path, body)).status).toBe(400);
  });

  it("an instance must be where its network is", async () => {
    const { body } = await full.call("POST", path, {
      cloudProviderName: "aws",
      cloudProviderRegion: "eu-west-1",
    });
    const answer = await full.call("POST", `${components}/hosted/enterprise/standalone`, {
      cloud_provider: "aws",
      region: "us-east-1",
      custom_network_id: body["id"] ?? "",
    });
    expect([answer.status, answer.body["message"]]).toEqual([400, expect.stringContaining("eu-west-1")]);
  });
});
