/** @module Describes account configurations, with the commands that a person must run. */
import type { Json, JsonObject } from "../../../model/json.ts";
import type { AccountConfigRecord } from "../../model/records.ts";

/** An account configuration as the service describes it. */
export function describeAccountConfig(
  config: AccountConfigRecord,
  instanceIds: readonly string[],
): JsonObject {
  return {
    id: config.id,
    name: `account-${config.account}`,
    description: `Account ${config.account} at ${config.cloudProvider}`,
    cloudProviderId: config.cloudProvider,
    status: config.status === "OFFBOARDED" ? "DELETING" : config.status,
    statusMessage: messages[config.status],
    ...(providerFields[config.cloudProvider]?.(config.params, config.id) ?? {}),
    byoaInstanceIDs: instanceIds,
  };
}

const messages: { readonly [status in AccountConfigRecord["status"]]: string } = {
  PENDING: "waiting for a person to run the bootstrap in the account",
  READY: "the account is set up",
  READY_TO_OFFBOARD: "waiting for a person to run the offboard in the account; then delete once more",
  OFFBOARDED: "the account was given back; delete once more to finish",
};

type Fields = (params: JsonObject, id: string) => JsonObject;

const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");

const commands = (provider: string, id: string): JsonObject =>
  Object.fromEntries(
    ["Bootstrap", "Disconnect", "Offboard"].map((step) => [
      `${provider}${step}ShellCommand`,
      `sh ${step.toLowerCase()}-${provider}.sh --account-config-id ${id}`,
    ]),
  );

const providerFields: { readonly [provider: string]: Fields } = {
  aws: (params, id) => ({
    awsAccountID: text(params["aws_account_id"]),
    awsBootstrapRoleARN: text(params["aws_bootstrap_role_arn"]),
    awsCloudFormationTemplateURL: `https://bootstrap.invalid/account-config-template.yaml?id=${id}`,
    awsCloudFormationNoLBTemplateURL: `https://bootstrap.invalid/account-config-no-lb-template.yaml?id=${id}`,
  }),
  gcp: (params, id) => ({
    gcpProjectID: text(params["gcp_project_id"]),
    gcpProjectNumber: text(params["gcp_project_number"]),
    gcpServiceAccountEmail: text(params["gcp_service_account_email"]),
    ...commands("gcp", id),
  }),
  azure: (params, id) => ({
    azureSubscriptionID: text(params["azure_subscription_id"]),
    azureTenantID: text(params["azure_tenant_id"]),
    ...commands("azure", id),
  }),
  oci: (params, id) => ({
    ociTenancyID: text(params["oci_tenancy_id"]),
    ociDomainID: text(params["oci_domain_id"]),
    ...commands("oci", id),
  }),
};
