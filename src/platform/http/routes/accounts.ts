/** @module Serves account configurations, and connect and disconnect of cloud accounts. */
import { accountProviders } from "../../../fields/cloud-account.ts";
import { type JsonObject, textIn } from "../../../model/json.ts";
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
    ...fieldsOfProvider(config),
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
  if (core.dialect.isVendors && subscription !== subscriptionOf(record))
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

function fieldsOfProvider({ id, cloudProvider, params }: AccountConfigRecord): JsonObject {
  const named =
    accountProviders[cloudProvider]?.required.filter((key) => key !== "account_configuration_method") ?? [];
  // `awsAccountID` of `aws_account_id`.
  const answerKey = (key: string) => key.replaceAll(/_(id|arn|[a-z])/g, (_, start) => start.toUpperCase());
  return {
    ...Object.fromEntries(named.map((key) => [answerKey(key), textIn(params[key]) ?? ""])),
    ...(cloudProvider === "aws" ? templates(id) : commands(cloudProvider, id)),
  };
}

const templates = (id: string): JsonObject => ({
  awsCloudFormationTemplateURL: `https://bootstrap.invalid/account-config-template.yaml?id=${id}`,
  awsCloudFormationNoLBTemplateURL: `https://bootstrap.invalid/account-config-no-lb-template.yaml?id=${id}`,
});

const commands = (provider: string, id: string): JsonObject =>
  Object.fromEntries(
    ["Bootstrap", "Disconnect", "Offboard"].map((step) => [
      `${provider}${step}ShellCommand`,
      `sh ${step.toLowerCase()}-${provider}.sh --account-config-id ${id}`,
    ]),
  );
