/** @module Holds the field table of cloud accounts. */
import type { KindSchema } from "../model/field-schema.ts";
import { fixed, providers } from "./instance.ts";

/** Fields that one provider requires or accepts, and its methods of setting an account up. */
export interface ProviderFields {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly methods: readonly string[];
}

function provider(ids: readonly string[], script: string, ...optional: readonly string[]): ProviderFields {
  return {
    required: [...ids, "account_configuration_method"],
    optional: [...optional, "allow_new_cloud_native_network_creation"],
    methods: [script, "Terraform"],
  };
}

export const accountProviders: { readonly [provider: string]: ProviderFields } = {
  aws: provider(["aws_account_id", "aws_bootstrap_role_arn"], "CloudFormation", "private_link"),
  gcp: provider(["gcp_project_id", "gcp_project_number", "gcp_service_account_email"], "GCPScript"),
  azure: provider(["azure_subscription_id", "azure_tenant_id"], "AzureScript"),
  oci: provider(["oci_tenancy_id", "oci_domain_id"], "OCIScript"),
};

/** A cloud account is an instance of the account configuration resource. No setting can be changed in place. */
export const cloudAccountSchema: KindSchema = {
  type: "object",
  additionalProperties: false,
  required: ["cloudProvider", "config"],
  properties: {
    cloudProvider: fixed(
      "Cloud provider of the account.",
      { "x-wire": "cloud_provider", "x-in": "body" },
      providers,
    ),
    config: {
      type: "object",
      additionalProperties: false,
      description: "The service's own settings for the provider.",
      properties: {
        aws_account_id: fixed("12-digit account id.", { pattern: "^[0-9]{12}$" }),
        aws_bootstrap_role_arn: fixed("Role that the service assumes.", {
          pattern: "^arn:aws:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]{1,512}$",
        }),
        private_link: {
          enum: [true, false, "true", "false"],
          description: "Enables PrivateLink for the account: true or false.",
          "x-create-only": true,
        },
        gcp_project_id: fixed("Project id."),
        gcp_project_number: fixed("Project number.", { pattern: "^[0-9]+$" }),
        gcp_service_account_email: fixed("Bootstrap service account.", {
          pattern: "^bootstrap-[A-Za-z0-9-]+@[a-z][a-z0-9.:-]*\\.iam\\.gserviceaccount\\.com$",
        }),
        azure_subscription_id: fixed("Subscription id."),
        azure_tenant_id: fixed("Tenant id."),
        oci_tenancy_id: fixed("Tenancy OCID."),
        oci_domain_id: fixed("Identity domain OCID."),
        account_configuration_method: fixed("How the account is set up.", {
          enum: ["CloudFormation", "GCPScript", "AzureScript", "OCIScript", "Terraform"],
        }),
        allow_new_cloud_native_network_creation: {
          type: "boolean",
          description: "Whether the service may create networks in the account.",
          "x-create-only": true,
        },
      },
    },
  },
};
