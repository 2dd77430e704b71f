/** @module Serves the local platform's own endpoints under `/_platform`. */

import type { Context, Hono } from "hono";
import { auth } from "hono/utils/basic-auth";
import { isObject, type Json, textIn } from "../../../model/json.ts";
import { bootstrap, offboard } from "../../control/accounts.ts";
import { parseFaultRules } from "../../control/faults.ts";
import { readNetwork } from "../../control/validate.ts";
import type { Core } from "../../core.ts";
import { ServiceError } from "../../model/service-error.ts";
import { maxBody, openBody, parseJson, platformErrorFormat } from "../contract.ts";
import { linkLifetime } from "../credentials.ts";
import { platformStatus } from "../describe.ts";
import type { Env } from "../exchange.ts";
import { addNetwork, describeNetwork } from "./networks.ts";
import { pathParam, requireSession } from "./router.ts";
import { matchesCredentials } from "./session.ts";

type ControlHandler = (context: Context<Env>, body: Json) => Response | Promise<Response>;

/**
 * Registers faults, request log, network seeds and simulated persons. They accept the platform's own credentials (Basic) or a
 * session. Faults do not apply to them, and the request log omits them.
 */
export function controlEndpoints(app: Hono<Env>, core: Core): void {
  const route = (method: string, path: string, handler: ControlHandler): void => {
    app.on(method, `/_platform/${path}`, (context) => answer(core, context, handler));
  };

  app.get("/_platform/health", (context) => context.json({ status: "ok", pid: process.pid }));
  route("GET", "status", (context) => context.json(platformStatus(core)));

  route("POST", "page-links", (context) => {
    const url = new URL(`/?key=${core.pageSessions.createKey()}`, context.req.url);
    return context.json({ url: url.href, lifetime: linkLifetime });
  });

  route("GET", "faults", (context) => context.json({ rules: core.faults.rules() }));
  route("PUT", "faults", (context, body) => {
    const rules = parseFaultRules(body);
    if (typeof rules === "string") throw new ServiceError(400, rules);
    core.faults.replace(rules);
    return context.json({ rules });
  });
  route("DELETE", "faults", (context) => {
    core.faults.replace([]);
    return context.json({ rules: [] });
  });

  route("GET", "requests", (context) => {
    const after = Number(context.req.query("after") ?? 0);
    return context.json({ requests: core.log.after(Number.isFinite(after) ? after : 0) });
  });
  route("DELETE", "requests", () => {
    core.log.clear();
    return new Response(null, { status: 204 });
  });

  route("POST", "networks", async (context, body) => {
    const id = textIn(isObject(body) ? body["id"] : undefined);
    return context.json(describeNetwork(await addNetwork(core, readNetwork(body), id)));
  });

  for (const [name, act] of Object.entries({ bootstrap, offboard })) {
    route("POST", `accounts/:id/${name}`, async (context) => {
      const config = await act(core, pathParam({ context }, "id"));
      return context.json({ id: config.id, status: config.status });
    });
  }
}

async function answer(core: Core, context: Context<Env>, handler: ControlHandler): Promise<Response> {
  try {
    const given = auth(context.req.raw);
    if (given === undefined) requireSession(core, context);
    else if (!matchesCredentials(core.credentials, given))
      throw new ServiceError(401, "wrong user name or password");
    return await handler(context, await bodyOf(core, context));
  } catch (error) {
    if (error instanceof ServiceError) return platformErrorFormat.error(error.status, error.message);
    return platformErrorFormat.error(500, "the platform failed to answer this request");
  }
}

async function bodyOf(core: Core, context: Context<Env>): Promise<Json> {
  if (context.req.method === "GET") return null;
  const reader = openBody(context.req.raw, maxBody, core.bodyBudgets.signedIn);
  try {
    return parseJson(await reader.read(), undefined) ?? null;
  } finally {
    reader.release();
  }
}
