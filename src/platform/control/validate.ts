/** @module Checks the bodies of requests against the field table. */
import { accountProviders, cloudAccountSchema } from "../../fields/cloud-account.ts";
import { isOfferedBy } from "../../model/field-schema.ts";
import { defined, isObject, type Json, type JsonObject, own, textIn } from "../../model/json.ts";
import { bodyRows, maxLogin, paramRows, type Rows, wrongValue } from "../model/field-rules.ts";
import { bytesOf, type InstanceTypes, machineMemory } from "../model/instance-types.ts";
import type { AccountConfigRecord, InstanceRecord } from "../model/records.ts";
import { ServiceError } from "../model/service-error.ts";

export interface Place {
  readonly tier: string;
  readonly component: string;
  readonly instanceTypes: InstanceTypes;
}

export interface CreateRequest extends Pick<InstanceRecord, "cloudProvider" | "region" | "params"> {
  readonly networkType: string | undefined;
  readonly customNetworkId: string | undefined;
}

const createKeys = ["requestParams", "customTags", "productTierVersion", "onprem_platform"];
const updateKeys = ["requestParams", "network_type", "customTags"];

/** Reads the body of a create; throws ServiceError 400 with every problem. */
export function readCreate(body: Json, place: Place): CreateRequest {
  const { top, params } = split(body);
  const { region } = top;
  const cloudProvider = textIn(top["cloud_provider"]) ?? "";
  const needsAccount = place.tier === "enterprise-byoa";
  refuse([
    ...problemsIn(top, bodyRows, { place, others: createKeys }),
    ...missing(top, ["cloud_provider", "region"]),
    ...(typeof region === "string" && region !== "" && !isSafeName(region) ? ["region is not offered"] : []),
    ...problemsIn(params, paramRows, { place, unknown: paramUnknown }),
    ...(needsAccount && !Object.hasOwn(params, "cloud_provider_account_config_id")
      ? ["cloud_provider_account_config_id is required by this tier"]
      : []),
    ...crossProblems(params, cloudProvider, place),
  ]);
  return {
    cloudProvider,
    region: textIn(region) ?? "",
    networkType: textIn(top["network_type"]),
    customNetworkId: textIn(top["custom_network_id"]),
    params,
  };
}

/** Reads the body of an update; throws ServiceError 400 for create-only fields, unknown fields and fields of other tiers. */
export function readUpdate(
  body: Json,
  place: Place,
  current: { readonly cloudProvider: string; readonly params: JsonObject },
): { readonly params: JsonObject; readonly networkType: string | undefined } {
  const { top, params } = split(body);
  const { network_type: networkType } = top;
  const fixed = (key: string): string => `${key} is fixed after deployment and cannot be updated`;
  refuse([
    ...Object.keys(top)
      .filter((key) => !updateKeys.includes(key))
      .map((key) => (Object.hasOwn(bodyRows, key) ? fixed(key) : unknownField(key))),
    ...problemsIn(defined({ network_type: networkType }), bodyRows, { place }),
    ...problemsIn(params, paramRows, { place, unknown: paramUnknown }),
    ...Object.keys(params)
      .filter((key) => own(paramRows, key)?.["x-create-only"] === true)
      .map(fixed),
    ...crossProblems({ ...current.params, ...params }, current.cloudProvider, place),
  ]);
  return { params, networkType: textIn(networkType) };
}

export type AccountRequest = Pick<AccountConfigRecord, "cloudProvider" | "account" | "params">;

const accountKeys = ["cloud_provider", "requestParams", "region", "network_type", "customTags"];

/** Reads the body of a cloud account's create; throws ServiceError 400 with every problem. */
export function readAccount(body: Json): AccountRequest {
  const top = objectIn(body, "the body must be a JSON object");
  const provider = textIn(top["cloud_provider"]) ?? "";
  const rules = own(accountProviders, provider);
  if (rules === undefined) throw new ServiceError(400, "cloud_provider must be one of aws, gcp, azure, oci");
  const params = objectIn(top["requestParams"], "requestParams is required and must be an object");
  const all = cloudAccountSchema.properties["config"]?.properties ?? {};
  const rows = Object.entries(all).filter(([key]) => [...rules.required, ...rules.optional].includes(key));
  const { account_configuration_method: method, cloud_provider: repeated, ...others } = params;
  const required = provider === "aws" ? ["cloud_provider", ...rules.required] : rules.required;
  refuse([
    ...problemsIn(top, {}, { others: [...accountKeys, "productTierVersion"] }),
    ...missing(params, required, "requestParams."),
    ...problemsIn(others, Object.fromEntries(rows), {
      prefix: "requestParams.",
      unknown: (key) => `requestParams.${key} is not known for ${provider}`,
    }),
    ...(repeated === undefined || repeated === provider
      ? []
      : [`requestParams.cloud_provider must be ${provider}`]),
    ...(method === undefined || (typeof method === "string" && rules.methods.includes(method))
      ? []
      : [`account_configuration_method must be one of ${rules.methods.join(", ")}`]),
  ]);
  const [idField = ""] = rules.required;
  return { cloudProvider: provider, account: String(params[idField]), params };
}

/** True for a text that is safe as the name of a region or a folder, or as an id. */
export function isSafeName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/.test(text);
}

function split(body: Json): { readonly top: JsonObject; readonly params: JsonObject } {
  const top = objectIn(body, "the body must be a JSON object");
  return { top, params: objectIn(top["requestParams"] ?? {}, "requestParams must be an object") };
}

/** The value, if it is an object. Throws ServiceError 400 with `problem`. */
export function objectIn(value: Json | undefined, problem: string): JsonObject {
  if (isObject(value)) return value;
  throw new ServiceError(400, problem);
}

interface Check {
  /** Fields that this tier and component do not offer are refused. */
  readonly place?: Place;
  /** Keys without a row that are allowed, with any value. */
  readonly others?: readonly string[];
  /** Message for a key without a row. */
  readonly unknown?: (key: string) => string;
  /** Text before the name of a field with a wrong value. */
  readonly prefix?: string;
}

/** A problem for each field without a row, or with a value that its row refuses. */
export function problemsIn(fields: JsonObject, rows: Rows, check: Check): readonly string[] {
  const { place, others = [], unknown = unknownField, prefix = "" } = check;
  return Object.entries(fields).flatMap(([key, value]) => {
    const row = own(rows, key);
    if (row === undefined) return others.includes(key) ? [] : [unknown(key)];
    if (place !== undefined && !isOfferedBy(row, place))
      return [`${key} is not offered by ${place.tier}/${place.component}`];
    const wrong = wrongValue(row, value);
    return wrong === undefined ? [] : [`${prefix}${key} ${wrong}`];
  });
}

const unknownField = (key: string): string => `${key} is not a field of this request`;
const paramUnknown = (key: string): string => `requestParams.${key} is not known`;

function missing(fields: JsonObject, required: readonly string[], prefix = ""): readonly string[] {
  return required.filter((key) => !Object.hasOwn(fields, key)).map((key) => `${prefix}${key} is required`);
}

function crossProblems(params: JsonObject, provider: string, place: Place): readonly string[] {
  const problems: string[] = [];
  const type = textIn(params["nodeInstanceType"]);
  const { tier, instanceTypes } = place;
  const memory = machineMemory({ tier, cloudProvider: provider }, type, instanceTypes);
  if (tier === "pro" && Object.hasOwn(instanceTypes, provider) && memory === undefined)
    problems.push(`nodeInstanceType ${type} is not offered by pro on ${provider}`);
  for (const name of ["graphdbUser", "graphdbPassword"])
    if (Buffer.byteLength(textIn(params[name]) ?? "") > maxLogin)
      problems.push(`${name} is longer than ${maxLogin} bytes`);
  const wrong = wrongCeiling(textIn(params["maxMemory"]), memory, type);
  if (wrong !== undefined) problems.push(wrong);
  const [limit, byDefault] = [params["graphDBTimeoutMax"], params["graphDBTimeoutDefault"]];
  if (typeof limit === "number" && typeof byDefault === "number" && limit > 0 && byDefault > limit)
    problems.push("graphDBTimeoutDefault must not exceed graphDBTimeoutMax");
  return problems;
}

/** An empty database takes about 4 MB; with a lower limit nothing can be written. */
const minMemory = 10_000_000;
/** No machine has more memory, and larger numbers are not exact. */
const maxMemory = 64 * 1024 ** 4;

function wrongCeiling(
  asked: string | undefined,
  machine: number | undefined,
  type: string | undefined,
): string | undefined {
  const ceiling = bytesOf(asked ?? "");
  if (ceiling === undefined) return undefined;
  if (ceiling < minMemory) return `maxMemory ${asked} is less than a database needs; at least 10M`;
  if (ceiling <= (machine ?? maxMemory)) return undefined;
  if (machine === undefined) return `maxMemory ${asked} is more than any machine has`;
  const owner = type ?? `the tier's default instance type (${machine / 1024 ** 3}GB)`;
  return `maxMemory ${asked} exceeds the memory of ${owner}`;
}

/** Throws ServiceError 400 with all problems, if there are any. */
export function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new ServiceError(400, problems.join("; "));
}
