/** @module Lists the operations of both hosts, assembles the hosts, and listens. */
import { createServer, type Server } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import type { Core } from "../core.ts";
import { ServiceError } from "../model/service-error.ts";
import {
  type ErrorFormat,
  maxBody,
  maxOpenBody,
  platformErrorFormat,
  usersErrorFormat,
  version,
} from "./contract.ts";
import { type Env, type Operation, type Route, type Row, serve } from "./exchange.ts";
import { accountRows } from "./routes/accounts.ts";
import { controlEndpoints } from "./routes/control.ts";
import { instanceRows } from "./routes/instances.ts";
import { networkRows } from "./routes/networks.ts";
import { pageEndpoints } from "./routes/page.ts";
import { planRows } from "./routes/plans.ts";
import { requireSession } from "./routes/router.ts";
import { openRows, sessionRows } from "./routes/session.ts";
import { snapshotRows } from "./routes/snapshots.ts";
import { userRoutes } from "./routes/users.ts";

/** The app of the platform host, of the users host, or of both on one port. */
export function createApp(core: Core, hosts: readonly ErrorFormat["name"][]): Hono<Env> {
  const app = new Hono<Env>();
  const isPlatform = hosts.includes("platform");
  const register = (format: ErrorFormat, routes: readonly Route[]): void => {
    for (const route of routes)
      app.on(route.method, route.path, (context) => serve(core, format, route, context));
  };
  if (hosts.includes("users")) register(usersErrorFormat, userRoutes(core));
  if (isPlatform) {
    register(platformErrorFormat, platformRoutes(core));
    controlEndpoints(app, core);
    pageEndpoints(app, core);
  }
  const format = isPlatform ? platformErrorFormat : usersErrorFormat;
  return app.all("*", (context) => serve(core, format, unknown, context));
}

/** Answers 404 to unknown paths, without reading the body. */
const unknown: Operation = {
  name: "unknown",
  admit(_core, context) {
    throw new ServiceError(404, `there is no ${context.req.method} ${context.req.path}`);
  },
  maxBody: 0,
  handler: () => ({}),
};

/** Rejects if the port is taken. `isFast` replaces the global Request and Response of this process by faster ones. */
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
  const bound = typeof address === "object" ? address?.port : port;
  return { server, url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}` };
}

function platformRoutes(core: Core): readonly Route[] {
  const routes = (rows: readonly Row[], rules: Pick<Operation, "admit" | "maxBody">): readonly Route[] =>
    rows.map(([method, path, name, handler, status]) => ({
      ...{ method, path: `${version}${path}`, name, handler, status },
      ...rules,
    }));
  const ofInstances = [...snapshotRows(core), ...instanceRows(core)];
  const rows = [...sessionRows, ...planRows(core), ...accountRows, ...networkRows(core), ...ofInstances];
  return [
    ...routes(openRows, { admit: () => undefined, maxBody: maxOpenBody }),
    ...routes(rows, { admit: requireSession, maxBody }),
  ];
}
