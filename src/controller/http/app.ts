/** @module Makes the HTTP application of the controller from the table of endpoints. */
import { type Context, Hono } from "hono";
import type { LiveConfig } from "../config/config.ts";
import type { Database } from "../database/connect.ts";
import type { Queue } from "../queue/queue.ts";
import { type Checks, checksOf } from "./checks.ts";
import { documentOf, ref } from "./documents.ts";
import type { Endpoint, World } from "./endpoint.ts";
import { fleetEndpoints } from "./endpoints/fleet.ts";
import { healthEndpoints } from "./endpoints/health.ts";
import { hookEndpoints } from "./endpoints/hooks.ts";
import { manifestEndpoints } from "./endpoints/manifests.ts";
import { runEndpoints } from "./endpoints/runs.ts";
import { stateEndpoints } from "./endpoints/state.ts";
import { type Bindings, guard, peerOf, type Rate } from "./guard.ts";
import { once } from "./idempotency.ts";
import { countRequests } from "./metrics.ts";
import { openApi } from "./openapi.ts";
import { json, Problem, problemAnswer, problemOf } from "./problem.ts";

export interface AppOptions {
  readonly database: Database;
  readonly queue: Queue;
  readonly config: LiveConfig;
  readonly version: string;
  /** Requests of one token, and failed sign-ins of one address. Default 50 a second, 200 at once. */
  readonly rate?: Rate;
  readonly streams?: Partial<World["streams"]>;
  /** Told of errors that an answer hides. */
  readonly onTrouble?: (error: unknown) => void;
}

/** The table: every path of the controller but its document's own. */
export const endpoints: readonly Endpoint[] = [
  ...healthEndpoints,
  ...fleetEndpoints,
  ...manifestEndpoints,
  ...runEndpoints,
  ...stateEndpoints,
  ...hookEndpoints,
];

/** Path of the OpenAPI document. */
export const documentPath = "/api/v1/openapi.json";

type App = Hono<{ Bindings: Bindings }>;
type Exchange = Context<{ Bindings: Bindings }>;

/** Makes the application; nothing is asked of the database before the first request. */
export function createApp(options: AppOptions): App {
  const { database, queue, config, version, onTrouble } = options;
  const streams = { poll: 1_000, keepAlive: 15_000, longest: 600_000, ...options.streams };
  const requests = countRequests();
  const world: World = { database, queue, config, version, counted: requests.lines, streams };
  const letIn = guard(database, options.rate ?? { perSecond: 50, burst: 200 });

  const answer = async (row: Endpoint, checks: Checks, context: Exchange): Promise<Response> => {
    const request = context.req.raw;
    const { headers, signal } = request;
    const peer = peerOf(context.env ?? {}, headers, config.current().http.trustProxy);
    const caller = await letIn(row, headers, peer);
    const path = checks.path(context.req.param());
    // One answer for what is another tenant's and for what is not there, before anything is looked up.
    if (caller.tenant !== null && path["tenant"] !== undefined && path["tenant"] !== caller.tenant)
      throw new Problem("not-found");
    const url = new URL(request.url);
    const query = checks.query(url.searchParams);
    const { bytes, body } = await checks.body(request);
    const work = async (): Promise<Response> => {
      const done = await row.handle({ world, caller, path, query, body, bytes, headers, signal });
      if (done instanceof Response) return done;
      const [status = "", name = ""] = Object.entries(row.answers)[0] ?? [];
      return json(Number(status), documentOf(ref(name ?? ""), done));
    };
    const key = headers.get("idempotency-key");
    if (key === null || !row.isRepeatable) return work();
    const parts = [row.method, url.pathname, url.search, bytes];
    return once(database, { token: caller.id, key, parts }, work);
  };

  const app: App = new Hono();
  const serve = (row: Endpoint): ((context: Exchange) => Promise<Response>) => {
    const checks = checksOf(row);
    return async (context) => {
      const response = await answer(row, checks, context).catch((error: unknown) => {
        const problem = problemOf(error);
        if (problem !== error) onTrouble?.(error);
        return problemAnswer(problem);
      });
      response.headers.set("x-content-type-options", "nosniff");
      requests.add(row.method, row.path, response.status);
      return response;
    };
  };
  const methods = new Map<string, string[]>();
  for (const row of endpoints) {
    const path = row.path.replace(/\{(\w+)\}/g, ":$1");
    app.on(row.method, path, serve(row));
    methods.set(path, [...(methods.get(path) ?? []), row.method]);
  }
  const document = openApi(endpoints, version);
  app.get(documentPath, () => json(200, document));
  for (const [path, allowed] of methods)
    app.all(path, () =>
      problemAnswer(new Problem("method-not-allowed", undefined, { allow: allowed.join(", ") })),
    );
  app.notFound(() => problemAnswer(new Problem("not-found")));
  app.onError((error) => {
    onTrouble?.(error);
    return problemAnswer(problemOf(error));
  });
  return app;
}
