/** @module Serves failover of a node. */
import type { Hono } from "hono";
import type { JsonObject } from "../../../model/json.ts";
import type { Core } from "../../core.ts";
import { ServiceError } from "../../model/service-error.ts";
import { componentPath } from "../component-path.ts";
import type { Env } from "../exchange.ts";
import { objectOf } from "../object-of.ts";
import { instanceOf, locateNodes } from "./locate.ts";
import { accepted, sessionRoutes } from "./router.ts";

const actions = ["FAILOVER_ONLY", "FAILOVER_AND_RESTART", "FAILOVER_AND_RECREATE"];

/** Registers failover (specification 4.7) with the keys of the dialect. */
export function failoverEndpoint(app: Hono<Env>, core: Core): void {
  const path = `${componentPath(core.dialect)}/:id/failover`;
  const { node: nodeKeys, action: actionKeys } = core.dialect.failover;
  const [nodeKey = "", actionKey = ""] = [nodeKeys[0], actionKeys[0]];
  sessionRoutes(app, core)("POST", path, "failover", async (context, exchange) => {
    const record = instanceOf(core, context, locateNodes(core, context));
    const body = objectOf(exchange.body, [...nodeKeys, ...actionKeys]);
    const isCamel = body["failed_replica_id"] === undefined;
    const node = textOf(body, nodeKeys);
    const action = textOf(body, actionKeys);
    if (node === undefined) throw new ServiceError(400, `${nodeKey} is required`);
    if (action === undefined && !isCamel) throw new ServiceError(400, `${actionKey} is required`);
    if (action !== undefined && !actions.includes(action)) {
      throw new ServiceError(400, `${actionKey} must be one of ${actions.join(", ")}`);
    }
    core.lifecycle.check(record.id, "failover");
    if (!record.nodes.some(({ id }) => id === node)) {
      throw new ServiceError(400, `instance ${record.id} has no replica named as ${nodeKey} says`);
    }
    if (record.nodes.length < 2)
      throw new ServiceError(409, `instance ${record.id} has one node and nothing to fail over to`);
    await core.lifecycle.operate(record.id, "failover", exchange.fault, {
      failedNode: node,
      failoverAction: action ?? "FAILOVER_AND_RESTART",
    });
    return accepted();
  });
}

function textOf(body: JsonObject, keys: readonly string[]): string | undefined {
  const found = keys.map((key) => body[key]).find((value) => value !== undefined);
  return typeof found === "string" && found !== "" ? found : undefined;
}
