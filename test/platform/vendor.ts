import { isObject, type Json, type JsonObject } from "../../src/model/json.ts";

export const v: string = "/2022-09-01-00";
const base: string = `${v}/resource-instance/sp-JvkxkPhinN/falkordb/v1/prod`;
export const of = (
  tier: string,
  tenancy = "falkordb-customer-hosted-model-omnistrate-dedicated-tenancy",
): string => `${base}/falkordb-${tier}-customer-hosted/falkordb-${tier}-${tenancy}`;
export const pro: string = `${of("pro")}/standalone`;
export const pair: string = `${of("pro")}/single-Zone`;
export const startup: string = `${of("startup", "falkordb-customer-hosted-model-omnistrate-multi-tenancy")}/standalone`;
const byoa = `${base}/falkordb-enterprise-byoa-byoa/falkordb-enterprise-byoa-falkordb-byoa-model-omnistrate-dedicated-tenancy`;
export const account: string = `${byoa}/cloud-account`;
export const inAccount: string = `${byoa}/standalone`;
/** The body of an account's create. */
export const aws: JsonObject = {
  cloud_provider: "aws",
  requestParams: {
    cloud_provider: "aws",
    aws_account_id: "123456789012",
    aws_bootstrap_role_arn: "arn:aws:iam::123456789012:role/bootstrap",
    account_configuration_method: "CloudFormation",
  },
};
export const params: JsonObject = {
  name: "one",
  nodeInstanceType: "m7g.large",
  falkordbUser: "app",
  falkordbPassword: "a-password-of-ours",
  falkorDBCacheSize: 30,
};
export const small: JsonObject = { name: "small", falkordbPassword: "a-password-of-ours" };

export function topologyOf(body: JsonObject): readonly JsonObject[] {
  const topology = body["detailedNetworkTopology"];
  return isObject(topology) ? listOf(Object.values(topology)) : [];
}

export function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function lengthOf(value: Json | undefined): number {
  return Array.isArray(value) ? value.length : 0;
}

/** The seven keys of a component's path, as the body of a version upgrade has them. */
export function placeOf(path: string): JsonObject {
  const [provider = "", service = "", api = "", environment = "", model = "", tier = "", resource = ""] = path
    .split("/")
    .slice(3);
  return {
    serviceProviderId: provider,
    serviceKey: service,
    serviceAPIVersion: api,
    serviceEnvironmentKey: environment,
    serviceModelKey: model,
    productTierKey: tier,
    resourceKey: resource,
  };
}
