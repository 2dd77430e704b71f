/** @module Serves custom networks. */
import type { Hono } from "hono";
import { isObject } from "../../../model/json.ts";
import { addNetwork, describeNetwork, readNetwork } from "../../control/networks.ts";
import type { Core } from "../../core.ts";
import type { NetworkRecord } from "../../model/records.ts";
import { ServiceError } from "../../model/service-error.ts";
import { version } from "../contract.ts";
import type { Env } from "../exchange.ts";
import { pathParam, sessionRoutes } from "./router.ts";

const path = `${version}/resource-instance/custom-network`;

/** Registers the operations on custom networks (specification 4.6). Create, list and delete exist only with the option `networks: full`. */
export function networkEndpoints(app: Hono<Env>, core: Core): void {
  const route = sessionRoutes(app, core);
  const find = (id: string): NetworkRecord => {
    const network = core.store.networks.get(id);
    if (network === undefined) throw new ServiceError(404, `custom network ${id} not found`);
    return network;
  };

  route("GET", `${path}/:id`, "describe-network", (context) =>
    context.json(describeNetwork(find(pathParam(context, "id")))),
  );

  route("PATCH", `${path}/:id`, "update-network", async (context, exchange) => {
    const network = find(pathParam(context, "id"));
    const body = exchange.body;
    if (!isObject(body)) throw new ServiceError(400, "the body must be a JSON object");
    const refused = Object.keys(body).filter((key) => key !== "name");
    if (refused.length > 0)
      throw new ServiceError(400, `${refused.join(", ")} cannot be changed; only name can`);
    const { name } = body;
    if (name !== undefined && typeof name !== "string") throw new ServiceError(400, "name must be a string");
    const rename = (now: NetworkRecord): NetworkRecord => ({
      ...now,
      name: name ?? now.name,
      lastModified: core.timestamp(),
    });
    const renamed = await core.store.networks.update(network.id, rename);
    return context.json(describeNetwork(renamed ?? find(network.id)));
  });

  if (core.settings.networks !== "full") return;

  route("GET", path, "list-networks", (context) => {
    const { cloudProviderName: provider, cloudProviderRegion: region } = context.req.query();
    const shown = core.store.networks
      .list()
      .filter(
        (network) =>
          (provider ?? network.cloudProvider) === network.cloudProvider &&
          (region ?? network.region) === network.region,
      );
    return context.json({ customNetworks: shown.map(describeNetwork) });
  });

  route("POST", path, "create-network", async (context, exchange) =>
    context.json(describeNetwork(await addNetwork(core, readNetwork(exchange.body ?? null)))),
  );

  route("DELETE", `${path}/:id`, "delete-network", async (context) => {
    const { id } = find(pathParam(context, "id"));
    await core.store.networks.remove(id, () => {
      const user = core.store.instances.list().find((record) => record.customNetworkId === id);
      if (user !== undefined)
        throw new ServiceError(409, `custom network ${id} is in use by instance ${user.id}`);
    });
    return context.body(null, 200);
  });
}
