/** @module Checks the body of a cloud account's create. */
import { accountProviders, cloudAccountSchema } from "../../fields/cloud-account.ts";
import { isObject, type Json, type JsonObject } from "../../model/json.ts";
import { wrongValue } from "../model/field-rules.ts";
import { ServiceError } from "../model/service-error.ts";

/** A valid create of a cloud account. */
export interface AccountRequest {
  readonly cloudProvider: string;
  /** The provider's id of the account. */
  readonly account: string;
  readonly params: JsonObject;
}

const topKeys = new Set([
  "cloud_provider",
  "requestParams",
  "region",
  "network_type",
  "customTags",
  "productTierVersion",
]);

const accountField: { readonly [provider: string]: string } = {
  aws: "aws_account_id",
  gcp: "gcp_project_id",
  azure: "azure_subscription_id",
  oci: "oci_tenancy_id",
};

/** Reads the body of a create; throws ServiceError 400 with every problem. */
export function readAccount(body: Json): AccountRequest {
  if (!isObject(body)) throw new ServiceError(400, "the body must be a JSON object");
  const provider = body["cloud_provider"];
  const rules =
    typeof provider === "string" && Object.hasOwn(accountProviders, provider)
      ? accountProviders[provider]
      : undefined;
  const params = body["requestParams"];
  if (rules === undefined || typeof provider !== "string") {
    throw new ServiceError(400, "cloud_provider must be one of aws, gcp, azure, oci");
  }
  if (!isObject(params)) throw new ServiceError(400, "requestParams is required and must be an object");
  const problems = Object.keys(body)
    .filter((key) => !topKeys.has(key))
    .map((key) => `${key} is not a field of this request`);
  const required = provider === "aws" ? ["cloud_provider", ...rules.required] : rules.required;
  problems.push(
    ...required.filter((key) => !Object.hasOwn(params, key)).map((key) => `requestParams.${key} is required`),
  );
  for (const [key, value] of Object.entries(params)) problems.push(...problemsOf(key, value, provider));
  const method = params["account_configuration_method"];
  if (typeof method === "string" && !rules.methods.includes(method)) {
    problems.push(`account_configuration_method must be one of ${rules.methods.join(", ")}`);
  }
  if (problems.length > 0) throw new ServiceError(400, problems.join("; "));
  return { cloudProvider: provider, account: String(params[accountField[provider] ?? ""]), params };
}

function problemsOf(key: string, value: Json, provider: string): readonly string[] {
  if (key === "cloud_provider")
    return value === provider ? [] : [`requestParams.cloud_provider must be ${provider}`];
  const rules = accountProviders[provider];
  const rows = cloudAccountSchema.properties["config"]?.properties ?? {};
  const row = Object.hasOwn(rows, key) ? rows[key] : undefined;
  if (row === undefined || !(rules?.required.includes(key) || rules?.optional.includes(key))) {
    return [`requestParams.${key} is not known for ${provider}`];
  }
  const wrong = key === "account_configuration_method" ? undefined : wrongValue(row, value);
  const isText = key !== "account_configuration_method" || typeof value === "string";
  return wrong === undefined && isText ? [] : [`requestParams.${key} ${wrong ?? "must be a string"}`];
}
