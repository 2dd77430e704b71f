/** @module Serves account configurations, and connect and disconnect of cloud accounts. */
import type { Hono } from "hono";
import type { Json, JsonObject } from "../../../model/json.ts";
import { connectAccount } from "../../control/account-connection.ts";
import { accountInstances } from "../../control/accounts.ts";
import type { Core } from "../../core.ts";
import { subscriptionOf } from "../../dialect/dialect.ts";
import type { AccountConfigRecord } from "../../model/records.ts";
import { ServiceError } from "../../model/service-error.ts";
import { version } from "../contract.ts";
import type { Env } from "../exchange.ts";
import { objectOf, tagsOf } from "../object-of.ts";
import { serviceId } from "./plans.ts";
import { pathParam, sessionRoutes } from "./router.ts";

/** Registers the operation: status, and the commands that a person must run. */
export function accountEndpoints(app: Hono<Env>, core: Core): void {
  sessionRoutes(app, core)("GET", `${version}/accountconfig/:id`, "describe-account-config", (context) => {
    const id = pathParam(context, "id");
    const config = core.store.accountConfigs.get(id);
    if (config === undefined) throw new ServiceError(404, `account configuration ${id} not found`);
    const instanceIds = accountInstances(core, id).map((record) => record.id);
    return context.json(describeAccountConfig(config, instanceIds));
  });
}

/** Registers the operation. The path names the account's instance or its configuration. */
export function accountConnectionEndpoint(app: Hono<Env>, core: Core): void {
  const path = `${version}/resource-instance/account-config/:id`;
  sessionRoutes(app, core)("POST", path, "account-connection", async (context, exchange) => {
    const asked = pathParam(context, "id");
    const record = core.store.instances
      .list()
      .find(
        (instance) => instance.isAccount && (instance.id === asked || instance.accountConfigId === asked),
      );
    if (record === undefined) throw new ServiceError(404, `cloud account ${asked} not found`);
    const body = objectOf(exchange.body, ["serviceId", "subscriptionId", "setConnection", "customTags"]);
    const { serviceId: service, subscriptionId: subscription, setConnection: isWanted } = body;
    for (const key of ["serviceId", "subscriptionId"])
      if (typeof body[key] !== "string" || body[key] === "")
        throw new ServiceError(400, `${key} is required`);
    if (service !== serviceId) throw new ServiceError(404, `service ${String(service)} not found`);
    if (core.dialect.hasPlanSubscriptions && subscription !== subscriptionOf(record))
      throw new ServiceError(
        403,
        `subscription ${String(subscription)} is not one to the plan of tier ${record.tier}`,
      );
    if (isWanted !== undefined && typeof isWanted !== "boolean")
      throw new ServiceError(400, "setConnection must be true or false");
    const customTags = tagsOf(body);
    if (isWanted !== undefined) await connectAccount(core, record, isWanted);
    if (customTags !== undefined)
      await core.store.instances.update(record.id, (now) => ({
        ...now,
        customTags,
        lastModified: core.timestamp(),
      }));
    return new Response(null, { status: 202 });
  });
}

/** An account configuration as the service describes it. */
function describeAccountConfig(config: AccountConfigRecord, instanceIds: readonly string[]): JsonObject {
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
