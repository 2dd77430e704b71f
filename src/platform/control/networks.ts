/** @module Reads, adds and describes custom networks. */
import { networkSchema } from "../../fields/network.ts";
import { defined, isObject, type Json, type JsonObject } from "../../model/json.ts";
import type { Core } from "../core.ts";
import { wrongValue } from "../model/field-rules.ts";
import { type NetworkRecord, newId } from "../model/records.ts";
import { ServiceError } from "../model/service-error.ts";
import type { NetworkSeed } from "../options.ts";
import { isRegion } from "./validate.ts";

const seedKeys: { readonly [key: string]: string } = {
  name: "name",
  cloudProviderName: "cloudProvider",
  cloudProviderRegion: "region",
  cidr: "cidr",
  cloudProvider: "cloudProvider",
  region: "region",
};
const ignored = new Set(["id", "networkFeaturesConfiguration", "orgId"]);

/** Reads a custom network from a create (API keys) or a seed (manifest keys); throws ServiceError 400 with every problem. */
export function readNetwork(body: Json): Omit<NetworkSeed, "id"> {
  if (!isObject(body)) throw new ServiceError(400, "the body must be a JSON object");
  const found: { [field: string]: string } = {};
  const problems: string[] = [];
  for (const [key, value] of Object.entries(body)) {
    if (ignored.has(key)) continue;
    const field = Object.hasOwn(seedKeys, key) ? seedKeys[key] : undefined;
    const row = networkSchema.properties[field ?? ""];
    const wrong = row === undefined ? "is not a field of this request" : wrongValue(row, value);
    if (wrong !== undefined) problems.push(`${key} ${wrong}`);
    else if (field !== undefined && typeof value === "string") found[field] = value;
  }
  const { name = "", cloudProvider, region, cidr } = found;
  if (cloudProvider === undefined) problems.push("cloudProviderName is required");
  if (region === undefined || !isRegion(region))
    problems.push("cloudProviderRegion is required and must name a region");
  if (problems.length > 0 || cloudProvider === undefined || region === undefined) {
    throw new ServiceError(400, problems.join("; "));
  }
  return { name, cloudProvider, region, ...defined({ cidr }) };
}

/** Adds a custom network; returns the existing one where the id is known. */
export async function addNetwork(
  core: Core,
  seed: Omit<NetworkSeed, "id">,
  id?: string,
): Promise<NetworkRecord> {
  const known = id === undefined ? undefined : core.store.networks.get(id);
  if (known !== undefined) return known;
  if (id !== undefined && !/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/.test(id))
    throw new ServiceError(400, "id is malformed");
  const now = core.timestamp();
  const record: NetworkRecord = {
    id: id ?? newId("n"),
    name: seed.name,
    cloudProvider: seed.cloudProvider,
    region: seed.region,
    cidr: seed.cidr ?? "10.0.0.0/16",
    createdAt: now,
    lastModified: now,
  };
  await core.store.networks.add(record);
  return record;
}

/** A custom network as the service describes it. */
export function describeNetwork(network: NetworkRecord): JsonObject {
  return {
    id: network.id,
    name: network.name,
    cloudProviderName: network.cloudProvider,
    cloudProviderRegion: network.region,
    cidr: network.cidr,
    status: "READY",
    networkDefinitionType: "Custom",
    networkInstances: [],
    created_at: network.createdAt,
    last_modified_at: network.lastModified,
  };
}
