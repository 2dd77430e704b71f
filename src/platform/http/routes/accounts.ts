/** @module Serves account configurations, and connect and disconnect of cloud accounts. */

import { type Json, type JsonObject, textIn } from "../../../model/json.ts";
import { accountInstances, connectAccount } from "../../control/accounts.ts";
import { subscriptionOf } from "../../dialect/dialect.ts";
import type { AccountConfigRecord, InstanceRecord } from "../../model/records.ts";
import { found, ServiceError } from "../../model/service-error.ts";
import { fieldsOf, tagsOf } from "../contract.ts";
import type { Call, Row } from "../exchange.ts";
import { serviceId } from "./plans.ts";
import { pathParam } from "./router.ts";

export const accountRows: readonly Row[] = [
  ["GET", "/accountconfig/:id", "describe-account-config", describeAccount],
  ["POST", "/resource-instance/account-config/:id", "account-connection", changeConnection],
];

function describeAccount(call: Call): JsonObject {
  const id = pathParam(call, "id");
  const config = found(call.core.store.accountConfigs.get(id), `account configuration ${id}`);
  return {
    id,
    name: `account-${config.account}`,
    description: `Account ${config.account} at ${config.cloudProvider}`,
    cloudProviderId: config.cloudProvider,
    status: config.status === "OFFBOARDED" ? "DELETING" : config.status,
    statusMessage: messages[config.status],
    ...providerFields[config.cloudProvider]?.(config.params, id),
    byoaInstanceIDs: accountInstances(call.core, id).map((record) => record.id),
  };
}

/** Connects or disconnects an account. The path names the account's instance or its configuration. */
async function changeConnection(call: Call): Promise<void> {
  const { core } = call;
  const asked = pathParam(call, "id");
  const isAsked = ({ isAccount, id, accountConfigId }: InstanceRecord): boolean =>
    isAccount && (id === asked || accountConfigId === asked);
  const record = found(core.store.instances.list().find(isAsked), `cloud account ${asked}`);
  const types = {
    serviceId: "text",
    subscriptionId: "text",
    setConnection: "boolean",
    customTags: "any",
  } as const;
  const body = fieldsOf(call.body, types, ["serviceId", "subscriptionId"]);
  const { serviceId: service, subscriptionId: subscription, setConnection: isWanted } = body;
  if (service !== serviceId) throw new ServiceError(404, `service ${service} not found`);
  if (core.dialect.hasPlanSubscriptions && subscription !== subscriptionOf(record))
    throw new ServiceError(403, `subscription ${subscription} is not one to the plan of tier ${record.tier}`);
  const customTags = tagsOf(body);
  if (isWanted !== undefined) await connectAccount(core, record, isWanted);
  const lastModified = core.timestamp();
  if (customTags !== undefined)
    await core.store.instances.update(record.id, (now) => ({ ...now, customTags, lastModified }));
}

const messages: { readonly [status in AccountConfigRecord["status"]]: string } = {
  PENDING: "waiting for a person to run the bootstrap in the account",
  READY: "the account is set up",
  READY_TO_OFFBOARD: "waiting for a person to run the offboard in the account; then delete once more",
  OFFBOARDED: "the account was given back; delete once more to finish",
};

type Fields = (params: JsonObject, id: string) => JsonObject;

const text = (value: Json | undefined): string => textIn(value) ?? "";

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
