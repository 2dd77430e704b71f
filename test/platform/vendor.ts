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
