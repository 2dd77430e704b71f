/** @module Serves custom networks. */
import { networkSchema } from "../../../fields/network.ts";
import { defined, isObject, type Json, type JsonObject, textIn } from "../../../model/json.ts";
import { isSafeName, objectIn, problemsIn, refuse } from "../../control/validate.ts";
import type { Core } from "../../core.ts";
import type { Rows } from "../../model/field-rules.ts";
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
    [
      "POST",
      networks,
      "create-network",
      async ({ core, body = null }) => describeNetwork(await addNetwork(core, readNetwork(body))),
    ],
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

/** The network that a create or a seed asks for. */
type Wanted = Omit<Core["settings"]["networkSeeds"][number], "id">;

/** Rows by the keys of the API, and by those of a manifest. */
const { name, cidr, cloudProvider, region } = networkSchema.properties;
const createRows: Rows = defined({
  ...{ name, cidr, cloudProvider, region },
  ...{ cloudProviderName: cloudProvider, cloudProviderRegion: region },
});

/** Reads a custom network from a create (API keys) or a seed (manifest keys); throws ServiceError 400 with every problem. */
export function readNetwork(body: Json): Wanted {
  const top = objectIn(body, "the body must be a JSON object");
  const [name = "", cidr] = [textIn(top["name"]), textIn(top["cidr"])];
  const cloudProvider = textIn(top["cloudProvider"] ?? top["cloudProviderName"]) ?? "";
  const region = textIn(top["region"] ?? top["cloudProviderRegion"]) ?? "";
  refuse([
    ...problemsIn(top, createRows, { others: ["id", "networkFeaturesConfiguration", "orgId"] }),
    ...(cloudProvider === "" ? ["cloudProviderName is required"] : []),
    ...(isSafeName(region) ? [] : ["cloudProviderRegion is required and must name a region"]),
  ]);
  return { name, cloudProvider, region, ...defined({ cidr }) };
}

/** Adds a custom network; returns the existing one if the id is known. */
export async function addNetwork(core: Core, seed: Wanted, id?: string): Promise<NetworkRecord> {
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
