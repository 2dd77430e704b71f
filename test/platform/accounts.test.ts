import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../src/model/json.ts";
import { type Answer, at, components, startTest, type TestPlatform } from "./harness.ts";

const path = `${components}/byoa/enterprise-byoa/cloud-account`;
const byoa = `${components}/byoa/enterprise-byoa/standalone`;

let test: TestPlatform;
beforeAll(async () => {
  test = await startTest();
});
afterAll(() => test.close());

/** Specification 4.3, typed by hand. */
const aws = {
  cloud_provider: "aws",
  aws_account_id: "123456789012",
  aws_bootstrap_role_arn: "arn:aws:iam::123456789012:role/bootstrap",
  account_configuration_method: "CloudFormation",
};
const gcp = {
  gcp_project_id: "my-project",
  gcp_project_number: "1234567",
  gcp_service_account_email: "bootstrap-org1@my-project.iam.gserviceaccount.com",
  account_configuration_method: "GCPScript",
};
const azure = {
  azure_subscription_id: "s-1",
  azure_tenant_id: "t-1",
  account_configuration_method: "AzureScript",
};
const oci = {
  oci_tenancy_id: "ocid1.tenancy",
  oci_domain_id: "ocid1.domain",
  account_configuration_method: "OCIScript",
};
const providers: readonly [string, { readonly [key: string]: string }][] = [
  ["aws", aws],
  ["gcp", gcp],
  ["azure", azure],
  ["oci", oci],
];

function create(provider: string, requestParams: Json, on: TestPlatform = test): Promise<Answer> {
  return on.call("POST", `${path}?subscriptionId=sub-1`, { cloud_provider: provider, requestParams });
}

function without(params: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(params).filter(([each]) => each !== key));
}

describe("create (4.3)", () => {
  it.each(providers)("%s with every required field", async (provider, params) => {
    const answer = await create(provider, params);
    expect([answer.status, Object.keys(answer.body)]).toEqual([202, ["id"]]);
    const with_ = await create(provider, { ...params, allow_new_cloud_native_network_creation: true });
    expect(with_.status).toBe(202);
  });

  it.each(
    providers.flatMap(([provider, params]) =>
      Object.keys(params).map((key) => [provider, key, params] as const),
    ),
  )("%s without %s", async (provider, key, params) => {
    const answer = await create(provider, without(params, key));
    expect([answer.status, answer.body["message"]]).toEqual([400, expect.stringContaining(key)]);
  });

  it.each([
    ["aws", { ...aws, aws_account_id: "12345678901" }],
    ["aws", { ...aws, aws_account_id: 123_456_789_012 }],
    ["aws", { ...aws, aws_bootstrap_role_arn: "arn:aws:iam::123456789012:user/x" }],
    ["aws", { ...aws, cloud_provider: "gcp" }],
    ["aws", { ...aws, gcp_project_id: "x" }],
    ["aws", { ...aws, account_configuration_method: "GCPScript" }],
    ["aws", { ...aws, private_link: 1 }],
    ["gcp", { ...gcp, gcp_service_account_email: "someone@my-project.iam.gserviceaccount.com" }],
    ["gcp", { ...gcp, account_configuration_method: "CloudFormation" }],
    ["azure", { ...azure, account_configuration_method: "OCIScript" }],
    ["oci", { ...oci, account_configuration_method: 5 }],
    ["ibm", aws],
    ["__proto__", aws],
    ["aws", []],
  ])("%s refuses %j", async (provider, params) => {
    expect((await create(provider, JSON.parse(JSON.stringify(params)))).status).toBe(400);
  });

  it("needs the subscription", async () => {
    expect((await test.call("POST", path, { cloud_provider: "aws", requestParams: aws })).status).toBe(400);
  });
});

describe("the life of an account", () => {
  it("waits for a person, shows what to run, is READY after it", async () => {
    const { body } = await create("aws", { ...aws, aws_account_id: "000000000001" });
    const own = `${path}/${body["id"]}`;
    const described = await test.call("GET", own);
    expect(described.body["status"]).toBe("PENDING");
    const configId = String(at(described.body["result_params"], "cloud_provider_account_config_id"));
    const config = await test.call("GET", `/2022-09-01-00/accountconfig/${configId}`);
    expect(config.body).toMatchObject({
      id: configId,
      status: "PENDING",
      cloudProviderId: "aws",
      awsAccountID: "000000000001",
      awsCloudFormationTemplateURL: expect.stringContaining("https://"),
      byoaInstanceIDs: [body["id"]],
    });
    const early = await test.call("POST", byoa, {
      cloud_provider: "aws",
      region: "us-east-1",
      requestParams: { cloud_provider_account_config_id: configId },
    });
    expect([early.status, early.body["name"]]).toEqual([409, "invalid_state"]);

    expect((await test.call("POST", `/_platform/accounts/${body["id"]}/bootstrap`)).body["status"]).toBe(
      "READY",
    );
    expect((await test.call("GET", own)).body["status"]).toBe("READY");
    const instance = await test.create(byoa, { cloud_provider_account_config_id: configId });
    const running = await test.until(`${byoa}/${instance}`, "RUNNING");
    expect(running.status).toBe(200);

    const inUse = await test.call("DELETE", own);
    expect([inUse.status, inUse.body["message"]]).toEqual([409, expect.stringContaining(instance)]);
    await test.call("DELETE", `${byoa}/${instance}`);
    await test.until(`${byoa}/${instance}`, 404);

    expect((await test.call("DELETE", own)).status).toBe(202);
    expect((await test.call("GET", own)).body["status"]).toBe("DELETING");
    const leaving = await test.call("GET", `/2022-09-01-00/accountconfig/${configId}`);
    expect(leaving.body["status"]).toBe("READY_TO_OFFBOARD");
    expect((await test.call("DELETE", own)).status).toBe(409);
    expect((await test.call("POST", `/_platform/accounts/${configId}/offboard`)).status).toBe(200);
    expect((await test.call("DELETE", own)).status).toBe(202);
    expect((await test.call("GET", own)).status).toBe(404);
    expect((await test.call("GET", `/2022-09-01-00/accountconfig/${configId}`)).status).toBe(404);
  });

  it("of which two instances exist: the first goes in one call", async () => {
    const params = { ...aws, aws_account_id: "000000000002" };
    const first = String((await create("aws", params)).body["id"]);
    await test.call("POST", `/_platform/accounts/${first}/bootstrap`);
    const second = String((await create("aws", params)).body["id"]);
    expect((await test.call("GET", `${path}/${second}`)).body["status"]).toBe("READY");
    expect((await test.call("DELETE", `${path}/${first}`)).status).toBe(202);
    expect((await test.call("GET", `${path}/${first}`)).status).toBe(404);
    await test.call("DELETE", `${path}/${second}`);
    expect((await test.call("GET", `${path}/${second}`)).body["status"]).toBe("DELETING");
  });

  it("is kept while it is protected, also where another instance of it exists", async () => {
    const own = await startTest();
    try {
      const [one] = [await create("aws", aws, own), await create("aws", aws, own)];
      const at = `${path}/${one.body["id"]}`;
      await own.call("PATCH", `${at}/metadata`, { deletionProtection: true });
      expect((await own.call("DELETE", at)).status).toBe(409);
      expect((await own.call("GET", at)).status).toBe(200);
      await own.call("PATCH", `${at}/metadata`, { deletionProtection: false });
      expect((await own.call("DELETE", at)).status).toBe(202);
    } finally {
      await own.close();
    }
  });

  it("that nobody bootstrapped goes in one call", async () => {
    const { body } = await create("oci", { ...oci, oci_tenancy_id: "fresh" });
    expect((await test.call("DELETE", `${path}/${body["id"]}`)).status).toBe(202);
    expect((await test.call("GET", `${path}/${body["id"]}`)).status).toBe(404);
  });

  it("has no operation of a database, and no step twice", async () => {
    const { body } = await create("azure", { ...azure, azure_subscription_id: "fresh" });
    expect((await test.call("POST", `${path}/${body["id"]}/stop`)).status).toBe(400);
    expect((await test.call("PUT", `${path}/${body["id"]}`, { requestParams: {} })).status).toBe(400);
    await test.call("POST", `/_platform/accounts/${body["id"]}/bootstrap`);
    expect((await test.call("POST", `/_platform/accounts/${body["id"]}/bootstrap`)).status).toBe(409);
    expect((await test.call("POST", "/_platform/accounts/none/bootstrap")).status).toBe(404);
  });

  it("with a person always at hand needs no help", async () => {
    const auto = await startTest({ autoBootstrap: true });
    try {
      const { body } = await create("gcp", gcp, auto);
      await auto.until(`${path}/${body["id"]}`, "READY");
      await auto.call("DELETE", `${path}/${body["id"]}`);
      expect((await auto.call("GET", `${path}/${body["id"]}`)).body["status"]).toBe("DELETING");
      await auto.call("DELETE", `${path}/${body["id"]}`);
      expect((await auto.call("GET", `${path}/${body["id"]}`)).status).toBe(404);
    } finally {
      await auto.close();
    }
  });
});
