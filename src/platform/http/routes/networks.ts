/** @module Serves custom networks. */
import { isObject, type JsonObject } from "../../../model/json.ts";
import { isSafeName, readNetwork } from "../../control/validate.ts";
import type { Core } from "../../core.ts";
import { type NetworkRecord, newId } from "../../model/records.ts";
import { found, ServiceError } from "../../model/service-error.ts";
import type { Call, Row } from "../exchange.ts";
import { pathParam } from "./router.ts";

export function networkRows({ settings }: Core): readonly Row[] {
  const networks = "/resource-instance/custom-network";
  const own: readonly Row[] = [
    ["GET", `${networks}/:id`, "describe-network", (call) => describeNetwork(networkOf(call))],
    ["PATCH", `${networks}/:id`, "update-network", renameNetwork],
  ];
  if (settings.networks !== "full") return own;
  return [
    ...own,
    ["GET", networks, "list-networks", listNetworks],
    ["POST", networks, "create-network", createNetwork],
    ["DELETE", `${networks}/:id`, "delete-network", deleteNetwork],
  ];
}

async function renameNetwork(call: Call): Promise<JsonObject> {
  const { core, body } = call;
  const network = networkOf(call);
  if (!isObject(body)) throw new ServiceError(400, "the body must be a JSON object");
  const refused = Object.keys(body).filter((key) => key !== "name");
  if (refused.length > 0)
    throw new ServiceError(400, `${refused.join(", ")} cannot be changed; only name can`);
  const { name = network.name } = body;
  if (typeof name !== "string") throw new ServiceError(400, "name must be a string");
  const lastModified = core.timestamp();
  const renamed = await core.store.networks.update(network.id, (now) => ({ ...now, name, lastModified }));
  return describeNetwork(renamed ?? networkOf(call));
}

function listNetworks({ core, context }: Call): JsonObject {
  const { cloudProviderName: provider, cloudProviderRegion: region } = context.req.query();
  const shown = core.store.networks
    .list()
    .filter((network) => (provider ?? network.cloudProvider) === network.cloudProvider)
    .filter((network) => (region ?? network.region) === network.region);
  return { customNetworks: shown.map(describeNetwork) };
}

async function createNetwork({ core, body = null }: Call): Promise<JsonObject> {
  return describeNetwork(await addNetwork(core, readNetwork(body)));
}

async function deleteNetwork(call: Call): Promise<Response> {
  const { store } = call.core;
  const { id } = networkOf(call);
  await store.networks.remove(id, () => {
    const user = store.instances.list().find((record) => record.customNetworkId === id);
    if (user !== undefined)
      throw new ServiceError(409, `custom network ${id} is in use by instance ${user.id}`);
  });
  return new Response();
}

function networkOf(call: Call): NetworkRecord {
  const id = pathParam(call, "id");
  return found(call.core.store.networks.get(id), `custom network ${id}`);
}

/** Adds a custom network; returns the existing one if the id is known. */
export async function addNetwork(
  core: Core,
  seed: ReturnType<typeof readNetwork>,
  id?: string,
): Promise<NetworkRecord> {
  const known = id === undefined ? undefined : core.store.networks.get(id);
  if (known !== undefined) return known;
  if (id !== undefined && !isSafeName(id)) throw new ServiceError(400, "id is malformed");
  const now = core.timestamp();
  const fixed = { id: id ?? newId("n"), createdAt: now, lastModified: now };
  const record: NetworkRecord = { cidr: "10.0.0.0/16", ...seed, ...fixed };
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
