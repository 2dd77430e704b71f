/** @module Adds and describes custom networks. */
import type { JsonObject } from "../../model/json.ts";
import type { Core } from "../core.ts";
import { type NetworkRecord, newId } from "../model/records.ts";
import { ServiceError } from "../model/service-error.ts";
import type { NetworkSeed } from "../options.ts";
import { isSafeName } from "./validate.ts";

/** Adds a custom network; returns the existing one if the id is known. */
export async function addNetwork(
  core: Core,
  seed: Omit<NetworkSeed, "id">,
  id?: string,
): Promise<NetworkRecord> {
  const known = id === undefined ? undefined : core.store.networks.get(id);
  if (known !== undefined) return known;
  if (id !== undefined && !isSafeName(id)) throw new ServiceError(400, "id is malformed");
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
