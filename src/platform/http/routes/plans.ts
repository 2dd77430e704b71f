/** @module Serves service plans and subscriptions. */
import { type FieldSchema, isOfferedBy } from "../../../model/field-schema.ts";
import { defined, type JsonObject } from "../../../model/json.ts";
import type { Core } from "../../core.ts";
import { type Dialect, type Located, subscriptionOf } from "../../dialect/dialect.ts";
import { paramRows } from "../../model/field-rules.ts";
import { type Component, type Plan, preferredVersion } from "../../model/plans.ts";
import { found, ServiceError } from "../../model/service-error.ts";
import type { Call, Row } from "../exchange.ts";
import { paged, pathParam } from "./router.ts";

export function planRows({ dialect }: Core): readonly Row[] {
  const parameters = "/service-offering/:id/resource/:resource/instance/:instance";
  return [
    [
      "GET",
      "/service-offering",
      "list-plans",
      () => ({ serviceIds: [serviceId], services: [service(dialect)] }),
    ],
    ["GET", "/service-offering/:id", "describe-plan", describePlan],
    ...(dialect.isVendors ? [["GET", parameters, "describe-parameters", describeParameters] as const] : []),
    ["GET", "/subscription", "list-subscriptions", listSubscriptions],
    ["GET", "/subscription/:id", "describe-subscription", describeSubscription],
  ];
}

/** Id of the platform's only service, and the facts of it that offerings and subscriptions repeat. */
export const serviceId: string = "s-local";
const described: JsonObject = {
  serviceName: "the service",
  serviceLogoURL: "",
  serviceOrgId: "org-local",
  createdAt: "2026-01-01T00:00:00Z",
};
const cloudProviders = ["aws", "gcp", "azure", "oci"];
const regions: JsonObject = {
  awsRegions: ["us-east-1", "us-east-2", "us-west-2", "eu-west-1", "eu-central-1", "ap-south-1"],
  gcpRegions: ["us-central1", "us-east1", "europe-west1", "asia-south1"],
  azureRegions: ["eastus2", "westus3", "westeurope"],
  ociRegions: ["us-ashburn-1", "eu-frankfurt-1"],
};

function describePlan(call: Call): JsonObject {
  if (pathParam(call, "id") !== serviceId) throw new ServiceError(404, "service not found");
  return service(call.core.dialect);
}

function describeParameters(call: Call): JsonObject {
  const { core, context } = call;
  const located = resourceIn(core.dialect, pathParam(call, "resource"));
  const { productTierId: productTier } = context.req.query();
  if (pathParam(call, "id") !== serviceId || located === undefined)
    throw new ServiceError(404, "no service plan has such a resource");
  const { plan, component } = located;
  if (productTier !== undefined && productTier !== `pt-${plan.tier}`)
    throw new ServiceError(400, `plan ${productTier} does not have this resource`);
  const instance = pathParam(call, "instance");
  const record = core.store.instances.get(instance);
  const isOfIt = record?.tier === plan.tier && record.component === component.id;
  if (instance !== "none" && !isOfIt) throw new ServiceError(404, `instance ${instance} not found`);
  return parameterSchema(core, located);
}

function listSubscriptions(call: Call): JsonObject {
  const { core } = call;
  const { items, more } = paged(call, core.dialect.plans);
  const subscriptions = items.map((plan) => subscription(plan, core.credentials.username));
  return { ids: subscriptions.map(({ id }) => id), subscriptions, ...more };
}

function describeSubscription(call: Call): JsonObject {
  const { dialect, credentials } = call.core;
  const plan = dialect.plans.find((candidate) => subscriptionOf(candidate) === pathParam(call, "id"));
  return subscription(found(plan, "subscription"), credentials.username);
}

function resourceIn({ plans }: Dialect, id: string): Located | undefined {
  const all = plans.flatMap((plan) => listed(plan).map((component) => ({ plan, component })));
  return all.find(({ component }) => component.resourceId === id);
}

function service(dialect: Dialect): JsonObject {
  return {
    ...described,
    serviceId,
    serviceDescription: "graph databases on this machine",
    isDeprecated: false,
    serviceURLKey: dialect.service,
    serviceProviderId: dialect.provider,
    serviceProviderName: "local platform",
    offerings: dialect.plans.map((plan) => offering(dialect, plan)),
  };
}

function offering(dialect: Dialect, plan: Plan): JsonObject {
  return {
    ...(dialect.isVendors ? {} : { serviceModelKey: plan.modelKey, productTierKey: plan.tierKey }),
    serviceModelURLKey: plan.modelKey,
    productTierURLKey: plan.tierKey,
    productTierID: `pt-${plan.tier}`,
    productTierName: plan.name,
    productTierType: plan.tier === "free" || plan.tier === "startup" ? "MULTI_TENANCY" : "DEDICATED_TENANCY",
    productTierVersion: preferredVersion,
    productTierDocumentation: "",
    productTierPricing: {},
    productTierSupport: "",
    serviceLogoURL: "",
    serviceModelName: plan.name,
    serviceModelID: `sm-${plan.modelKey}`,
    serviceModelType: plan.account === undefined ? "CUSTOMER_HOSTED" : "BYOA",
    serviceModelStatus: "READY",
    serviceAPIID: "sa-local",
    serviceAPIVersion: "v1",
    serviceEnvironmentID: "se-local",
    serviceEnvironmentName: "Production",
    serviceEnvironmentVisibility: "PUBLIC",
    serviceEnvironmentType: "PROD",
    serviceEnvironmentURLKey: "prod",
    cloudProviders,
    ...regions,
    supportsPublicNetwork: true,
    AutoApproveSubscription: true,
    allowCreatesWhenPaymentNotConfigured: true,
    resourceParameters: listed(plan).map((component) => ({
      resourceId: component.resourceId,
      urlKey: component.key,
      name: component.name,
      isBackupEnabled: plan.hasBackups && component !== plan.account,
      isDeprecated: false,
    })),
  };
}

/** The components of a plan, and its account. */
function listed({ components, account }: Plan): readonly Component[] {
  return account === undefined ? components : [...components, account];
}

function subscription(plan: Plan, owner: string): JsonObject & { readonly id: string } {
  return {
    id: subscriptionOf(plan),
    status: "ACTIVE",
    roleType: "root",
    ...described,
    serviceId,
    serviceOrgName: "local platform",
    accountConfigIdentityId: "org-local",
    cloudProviderNames: cloudProviders,
    rootUserId: owner,
    productTierId: `pt-${plan.tier}`,
    productTierName: plan.name,
    defaultSubscription: true,
    paymentMethodConfigured: true,
    subscriptionOwnerName: owner,
  };
}

/** Parameters of create and update. The API has no keys for bounds, so the description contains them. */
function parameterSchema(parts: Core, { plan, component }: Located): JsonObject {
  const rows = Object.entries(paramRows).filter(
    ([name, row]) =>
      component !== plan.account &&
      !parts.dialect.params.absent.includes(name) &&
      isOfferedBy(row, { tier: plan.tier, component: component.id }),
  );
  const inputs = (isShown: (row: FieldSchema) => boolean): readonly JsonObject[] =>
    rows
      .filter(([, row]) => isShown(row))
      .flatMap(([name, row]) => parametersOf(parts, plan.tier, name, row));
  return {
    apis: [
      { verb: "CREATE", inputParameters: inputs(() => true), outputParameters: [] },
      {
        verb: "UPDATE",
        inputParameters: inputs((row) => row["x-create-only"] !== true),
        outputParameters: [],
      },
    ],
  };
}

/** The parameters of a field: one, or one per cloud provider for instance types, since each provider has its own list. */
function parametersOf(parts: Core, tier: string, name: string, row: FieldSchema): readonly JsonObject[] {
  const { fields, required, defaults } = parts.dialect.params;
  const value = defaults[name] ?? row.default;
  const { minimum, maximum } = row;
  const bounds = minimum === undefined || maximum === undefined ? "" : ` (${minimum} to ${maximum})`;
  const parameter: JsonObject = {
    key: fields[name] ?? name,
    type: typeOf(row),
    required: required[name]?.includes(tier) ?? false,
    modifiable: row["x-create-only"] !== true,
    ...(value === undefined ? {} : { defaultValue: String(value) }),
    ...(row.enum === undefined ? {} : { options: row.enum.map(String) }),
    ...defined({ regex: row.pattern }),
    isList: false,
    custom: true,
    displayName: name,
    description: `${row.description ?? ""}${bounds}`,
  };
  if (name !== "nodeInstanceType" || tier !== "pro") return [parameter];
  return Object.entries(parts.instanceTypes).map(([provider, types]) => ({
    ...parameter,
    options: Object.keys(types),
    scope: { cloudProviders: [provider] },
  }));
}

function typeOf(row: FieldSchema): string {
  if (row["x-secret"] === true) return "Password";
  if (row.type === "boolean") return "Boolean";
  return row.type === "number" || row.type === "integer" ? "Float64" : "String";
}
