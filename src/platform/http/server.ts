/** @module Assembles both hosts from their routes and listens. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import type { Core } from "../core.ts";
import { ServiceError } from "../model/service-error.ts";
import { type ErrorFormat, platformErrorFormat, usersErrorFormat } from "./error-format.ts";
import { type Env, type Operation, serve } from "./exchange.ts";
import { accountConnectionEndpoint, accountEndpoints } from "./routes/accounts.ts";
import { controlEndpoints } from "./routes/control.ts";
import { failoverEndpoint, restoreToTimeEndpoint, versionUpgradeEndpoint } from "./routes/failover.ts";
import { instanceEndpoints } from "./routes/instances.ts";
import { networkEndpoints } from "./routes/networks.ts";
import { pageEndpoints } from "./routes/page.ts";
import { planEndpoints } from "./routes/plans.ts";
import { sessionEndpoints } from "./routes/session.ts";
import { snapshotEndpoints } from "./routes/snapshots.ts";
import { userEndpoints } from "./routes/users.ts";

/** The app of the platform host; `hasUsersHost` adds the users host on the same port. */
export function createPlatformApp(core: Core, hasUsersHost: boolean): Hono<Env> {
  const app = new Hono<Env>();
  sessionEndpoints(app, core);
  planEndpoints(app, core);
  accountEndpoints(app, core);
  accountConnectionEndpoint(app, core);
  networkEndpoints(app, core);
  snapshotEndpoints(app, core);
  failoverEndpoint(app, core);
  restoreToTimeEndpoint(app, core);
  versionUpgradeEndpoint(app, core);
  instanceEndpoints(app, core);
  controlEndpoints(app, core);
  pageEndpoints(app, core);
  if (hasUsersHost) userEndpoints(app, core);
  return withNotFound(app, core, platformErrorFormat);
}

/** The app of the users host on its own port. */
export function createUsersApp(core: Core): Hono<Env> {
  const app = new Hono<Env>();
  userEndpoints(app, core);
  return withNotFound(app, core, usersErrorFormat);
}

/** Answers 404 to unknown paths, without reading the body. */
const unknown: Operation = {
  name: "unknown",
  admit(context) {
    throw new ServiceError(404, `there is no ${context.req.method} ${context.req.path}`);
  },
  isSignedIn: () => false,
  largestBody: 0,
  handler: () => new Response(null, { status: 404 }),
};

function withNotFound(app: Hono<Env>, core: Core, format: ErrorFormat): Hono<Env> {
  app.all("*", (context) => serve(core, format, unknown, context));
  return app;
}

/**
 * Starts an HTTP server for an app. `isFast` replaces the global Request and Response of this process by faster ones. Rejects where
 * the port is taken.
 */
export async function listen(
  app: Hono<Env>,
  host: string,
  port: number,
  isFast: boolean,
): Promise<{ readonly server: Server; readonly url: string }> {
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: isFast });
  const server = createServer(
    { keepAliveTimeout: 30_000, requestTimeout: 60_000 },
    (request, response) => void listener(request, response),
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(new Error(`cannot listen on ${host}:${port}: ${error.message}`)));
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const bound = isAddress(address) ? address.port : port;
  return { server, url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}` };
}

function isAddress(address: string | AddressInfo | null): address is AddressInfo {
  return typeof address === "object" && address !== null;
}
