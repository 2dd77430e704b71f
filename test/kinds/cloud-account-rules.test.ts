import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../src/model/json.ts";
import { checkSections } from "./sample.ts";

/** Specification 4.3, typed from its tables: what each provider needs. */
const complete: { readonly [provider: string]: JsonObject } = {
  aws: {
    aws_account_id: "123456789012",
    aws_bootstrap_role_arn: "arn:aws:iam::123456789012:role/bootstrap",
    account_configuration_method: "CloudFormation",
  },
  gcp: {
    gcp_project_id: "shop-1",
    gcp_project_number: "42",
    gcp_service_account_email: "bootstrap-org1@shop-1.iam.gserviceaccount.com",
    account_configuration_method: "GCPScript",
  },
  azure: { azure_subscription_id: "s", azure_tenant_id: "t", account_configuration_method: "AzureScript" },
  oci: {
    oci_tenancy_id: "ocid1.tenancy",
    oci_domain_id: "ocid1.domain",
    account_configuration_method: "OCIScript",
  },
};

const methods: { readonly [provider: string]: readonly string[] } = {
  aws: ["CloudFormation", "Terraform"],
  gcp: ["GCPScript", "Terraform"],
  azure: ["AzureScript", "Terraform"],
  oci: ["OCIScript", "Terraform"],
};

const providers = Object.keys(complete);

async function errorsOf(cloudProvider: string, config: JsonObject): Promise<readonly string[]> {
  const { errors } = await checkSections({ cloudAccounts: { own: { cloudProvider, config } } });
  return errors.map((error) => error.replace("cloudAccounts.own ", ""));
}

describe("cloud accounts (specification 4.3)", () => {
  it.each(providers)("of %s: complete, and without each field in turn", async (provider) => {
    const config = complete[provider] ?? {};
    expect(await errorsOf(provider, config)).toEqual([]);
    for (const field of Object.keys(config)) {
      const { [field]: _, ...rest } = config;
      expect([field, await errorsOf(provider, rest)]).toEqual([field, ["missing-key"]]);
    }
    const { errors } = await checkSections({
      cloudAccounts: { own: { cloudProvider: provider, config: {} } },
    });
    expect(errors).toHaveLength(Object.keys(config).length);
  });

  it.each(providers)("of %s: only its own ways to be set up", async (provider) => {
    for (const method of new Set(Object.values(methods).flat())) {
      const errors = await errorsOf(provider, {
        ...complete[provider],
        account_configuration_method: method,
      });
      expect([method, errors]).toEqual([method, methods[provider]?.includes(method) ? [] : ["not-allowed"]]);
    }
  });

  it.each(providers)("of %s: no field of another provider", async (provider) => {
    for (const other of providers.filter((name) => name !== provider)) {
      const [field = "", value = ""] = Object.entries(complete[other] ?? {})[0] ?? [];
      expect(await errorsOf(provider, { ...complete[provider], [field]: value })).toEqual(["provider-field"]);
    }
  });

  it.each(providers)("of %s: new networks may be allowed, PrivateLink on aws alone", async (provider) => {
    const config = { ...complete[provider], allow_new_cloud_native_network_creation: true };
    expect(await errorsOf(provider, config)).toEqual([]);
    expect(await errorsOf(provider, { ...config, private_link: "true" })).toEqual(
      provider === "aws" ? [] : ["provider-field"],
    );
  });

  it.each<[string, string, Json, string | undefined]>([
    ["aws", "aws_account_id", "12345678901", "bad-format"],
    ["aws", "aws_account_id", "1234567890123", "bad-format"],
    ["aws", "aws_account_id", "12345678901a", "bad-format"],
    ["aws", "aws_account_id", 123_456_789_012, "wrong-type"],
    ["aws", "aws_account_id", "210987654321", "account-mismatch"],
    ["aws", "aws_bootstrap_role_arn", "arn:aws:iam::123456789012:user/bootstrap", "bad-format"],
    ["aws", "aws_bootstrap_role_arn", "arn:aws:iam::12345:role/bootstrap", "bad-format"],
    ["aws", "aws_bootstrap_role_arn", "arn:aws:iam::123456789012:role/team/boot_strap-1", undefined],
    ["gcp", "gcp_project_number", "12a", "bad-format"],
    ["gcp", "gcp_service_account_email", "someone@shop-1.iam.gserviceaccount.com", "bad-format"],
    ["gcp", "gcp_service_account_email", "bootstrap-org1@example.com", "bad-format"],
    [
      "gcp",
      "gcp_service_account_email",
      "bootstrap-org1@other-1.iam.gserviceaccount.com",
      "account-mismatch",
    ],
    ["azure", "account_configuration_method", "Pulumi", "not-allowed"],
    ["oci", "oci_domain_id", "", "too-short"],
  ])("%s: %s %j is %s", async (provider, field, value, code) => {
    expect(await errorsOf(provider, { ...complete[provider], [field]: value })).toEqual(
      code === undefined ? [] : [code],
    );
  });
});
