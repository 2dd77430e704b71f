/** @module Serves the local platform's own endpoints under `/_platform`. */
import type { Context, Hono } from "hono";
import { auth } from "hono/utils/basic-auth";
import { isObject, type Json, type JsonObject, textIn } from "../../../model/json.ts";
import { bootstrap, offboard } from "../../control/accounts.ts";
import { parseFaultRules } from "../../control/faults.ts";
import type { Core } from "../../core.ts";
import { ServiceError } from "../../model/service-error.ts";
import { maxBody, openBody, parseJson, platformErrorFormat } from "../contract.ts";
import { linkLifetime } from "../credentials.ts";
import { platformStatus } from "../describe.ts";
import { answerOf, type Env, respond } from "../exchange.ts";
import { addNetwork, describeNetwork, readNetwork } from "./networks.ts";
import { pathParam, requireSession } from "./router.ts";
import { requireCredentials } from "./session.ts";

type ControlHandler = (context: Context<Env>, body: Json) => Response | JsonObject | Promise<JsonObject>;

/** They take the platform's own credentials (Basic) or a session. No faults apply to them; the request log omits them. */
export function controlEndpoints(app: Hono<Env>, core: Core): void {
  const route = (method: string, path: string, handler: ControlHandler): void => {
    app.on(method, `/_platform/${path}`, (context) =>
      answerOf(core, platformErrorFormat, context, async () => {
        const given = auth(context.req.raw);
        if (given === undefined) requireSession(core, context);
        else requireCredentials(core, given);
        return respond(context, await handler(context, await bodyOf(core, context)));
      }),
    );
  };

  app.get("/_platform/health", (context) => context.json({ status: "ok", pid: process.pid }));
  route("GET", "status", () => platformStatus(core));

  route("POST", "page-links", (context) => {
    const url = new URL(`/?key=${core.page.keys.create()}`, context.req.url);
    return { url: url.href, lifetime: linkLifetime };
  });

  const showRules = (): Response => Response.json({ rules: core.faults.rules() });
  route("GET", "faults", showRules);
  route("PUT", "faults", (_context, body) => {
    const rules = parseFaultRules(body);
    if (typeof rules === "string") throw new ServiceError(400, rules);
    core.faults.replace(rules);
    return showRules();
  });
  route("DELETE", "faults", () => {
    core.faults.replace([]);
    return showRules();
  });

  route("GET", "requests", (context) => {
    const after = Number(context.req.query("after") ?? 0);
    return Response.json({ requests: core.log.after(Number.isFinite(after) ? after : 0) });
  });
  route("DELETE", "requests", () => {
    core.log.clear();
    return new Response(null, { status: 204 });
  });

  route("POST", "networks", async (_context, body) => {
    const id = textIn(isObject(body) ? body["id"] : undefined);
    return describeNetwork(await addNetwork(core, readNetwork(body), id));
  });

  for (const [name, act] of Object.entries({ bootstrap, offboard })) {
    route("POST", `accounts/:id/${name}`, async (context) => {
      const { id, status } = await act(core, pathParam({ context }, "id"));
      return { id, status };
    });
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
