/** @module Checks the bodies of creates and updates against the field table. */
import { isObject, type Json, type JsonObject } from "../../model/json.ts";
import { bodyRows, isOffered, longestLogin, paramRows, type Rows, wrongValue } from "../model/field-rules.ts";
import { bytesOf, type InstanceTypes, machineMemory } from "../model/instance-types.ts";
import { ServiceError } from "../model/service-error.ts";

/** Tier and component of an instance, and the instance types that the service offers. */
export interface Place {
  readonly tier: string;
  readonly component: string;
  readonly instanceTypes: InstanceTypes;
}

/** A valid create of an instance. */
export interface CreateRequest {
  readonly cloudProvider: string;
  readonly region: string;
  readonly networkType: string | undefined;
  readonly customNetworkId: string | undefined;
  readonly params: JsonObject;
}

const createKeys = new Set(["requestParams", "customTags", "productTierVersion", "onprem_platform"]);
const updateKeys = new Set(["requestParams", "network_type", "customTags"]);

/** Reads the body of a create; throws ServiceError 400 with every problem. */
export function readCreate(body: Json, place: Place): CreateRequest {
  const { top, params } = split(body);
  const problems: string[] = [];
  for (const key of Object.keys(top)) {
    const row = Object.hasOwn(bodyRows, key) ? bodyRows[key] : undefined;
    if (row !== undefined) problems.push(...problemsOf(key, row, top[key] ?? null, place));
    else if (!createKeys.has(key)) problems.push(`${key} is not a field of this request`);
  }
  for (const required of ["cloud_provider", "region"]) {
    if (!Object.hasOwn(top, required)) problems.push(`${required} is required`);
  }
  const region = top["region"];
  if (typeof region === "string" && region !== "" && !isRegion(region))
    problems.push("region is not offered");
  problems.push(...paramProblems(params, place));
  if (place.tier === "enterprise-byoa" && !Object.hasOwn(params, "cloud_provider_account_config_id")) {
    problems.push("cloud_provider_account_config_id is required by this tier");
  }
  const cloudProvider = stringOf(top["cloud_provider"]) ?? "";
  problems.push(...crossProblems(params, cloudProvider, place));
  refuse(problems);
  return {
    cloudProvider,
    region: stringOf(region) ?? "",
    networkType: stringOf(top["network_type"]),
    customNetworkId: stringOf(top["custom_network_id"]),
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
  const problems = Object.keys(top)
    .filter((key) => !updateKeys.has(key))
    .map((key) => (Object.hasOwn(bodyRows, key) ? fixed(key) : `${key} is not a field of this request`));
  const networkType = top["network_type"];
  const networkRow = bodyRows["network_type"];
  if (networkType !== undefined && networkRow !== undefined) {
    problems.push(...problemsOf("network_type", networkRow, networkType, place));
  }
  problems.push(...paramProblems(params, place), ...Object.keys(params).filter(isCreateOnly).map(fixed));
  problems.push(...crossProblems({ ...current.params, ...params }, current.cloudProvider, place));
  refuse(problems);
  return { params, networkType: stringOf(networkType) };
}

/** Checks network fields of a restore; throws ServiceError 400 with every problem. */
export function checkPlacement(fields: JsonObject, place: Place): void {
  refuse(
    Object.entries(fields).flatMap(([key, value]) => {
      const row = bodyRows[key];
      return row === undefined ? [] : problemsOf(key, row, value, place);
    }),
  );
}

/** True for a text that is safe as a region's name, also as a folder's. */
export function isRegion(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/.test(text);
}

function split(body: Json): { readonly top: JsonObject; readonly params: JsonObject } {
  if (!isObject(body)) throw new ServiceError(400, "the body must be a JSON object");
  const params = body["requestParams"] ?? {};
  if (!isObject(params)) throw new ServiceError(400, "requestParams must be an object");
  return { top: body, params };
}

function paramProblems(params: JsonObject, place: Place): readonly string[] {
  return Object.entries(params).flatMap(([key, value]) => {
    const row = Object.hasOwn(paramRows, key) ? paramRows[key] : undefined;
    return row === undefined ? [`requestParams.${key} is not known`] : problemsOf(key, row, value, place);
  });
}

function problemsOf(key: string, row: Rows[string], value: Json, place: Place): readonly string[] {
  if (!isOffered(row, place.tier, place.component)) {
    return [`${key} is not offered by ${place.tier}/${place.component}`];
  }
  const wrong = wrongValue(row, value);
  return wrong === undefined ? [] : [`${key} ${wrong}`];
}

function crossProblems(params: JsonObject, provider: string, place: Place): readonly string[] {
  const problems: string[] = [];
  const type = stringOf(params["nodeInstanceType"]);
  const { tier, instanceTypes } = place;
  const memory = machineMemory({ tier, cloudProvider: provider, type }, instanceTypes);
  if (tier === "pro" && Object.hasOwn(instanceTypes, provider) && memory === undefined) {
    problems.push(`nodeInstanceType ${type} is not offered by pro on ${provider}`);
  }
  for (const name of ["graphdbUser", "graphdbPassword"]) {
    if (Buffer.byteLength(stringOf(params[name]) ?? "") > longestLogin)
      problems.push(`${name} is longer than ${longestLogin} bytes`);
  }
  const wrong = wrongCeiling(stringOf(params["maxMemory"]), memory, type);
  if (wrong !== undefined) problems.push(wrong);
  const [limit, byDefault] = [params["graphDBTimeoutMax"], params["graphDBTimeoutDefault"]];
  if (typeof limit === "number" && typeof byDefault === "number" && limit > 0 && byDefault > limit) {
    problems.push("graphDBTimeoutDefault must not exceed graphDBTimeoutMax");
  }
  return problems;
}

/** An empty database takes about 4 MB; with a lower limit nothing can be written. */
const leastMemory = 10_000_000;
/** No machine has more memory, and larger numbers are not exact. */
const mostMemory = 64 * 1024 ** 4;

function wrongCeiling(
  maxMemory: string | undefined,
  machine: number | undefined,
  type: string | undefined,
): string | undefined {
  const ceiling = bytesOf(maxMemory ?? "");
  if (ceiling === undefined) return undefined;
  if (ceiling < leastMemory) return `maxMemory ${maxMemory} is less than a database needs; at least 10M`;
  if (ceiling <= (machine ?? mostMemory)) return undefined;
  if (machine === undefined) return `maxMemory ${maxMemory} is more than any machine has`;
  const owner = type ?? `the tier's default instance type (${machine / 1024 ** 3}GB)`;
  return `maxMemory ${maxMemory} exceeds the memory of ${owner}`;
}

function isCreateOnly(key: string): boolean {
  return Object.hasOwn(paramRows, key) && paramRows[key]?.["x-create-only"] === true;
}

function fixed(key: string): string {
  return `${key} is fixed after deployment and cannot be updated`;
}

function stringOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new ServiceError(400, problems.join("; "));
}
