/** @module Serves account configurations. */
import type { Hono } from "hono";
import { accountInstances } from "../../control/accounts.ts";
import type { Core } from "../../core.ts";
import { ServiceError } from "../../model/service-error.ts";
import { describeAccountConfig } from "../answers/account-instructions.ts";
import { version } from "../contract.ts";
import type { Env } from "../exchange.ts";
import { pathParam, sessionRoutes } from "./router.ts";

/** Registers the operation: status, and the commands that a person must run. */
export function accountEndpoints(app: Hono<Env>, core: Core): void {
  sessionRoutes(app, core)("GET", `${version}/accountconfig/:id`, "describe-account-config", (context) => {
    const id = pathParam(context, "id");
    const config = core.store.accountConfigs.get(id);
    if (config === undefined) throw new ServiceError(404, `account configuration ${id} not found`);
    const instanceIds = accountInstances(core, id).map((record) => record.id);
    return context.json(describeAccountConfig(config, instanceIds));
  });
}
