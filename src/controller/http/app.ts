/** @module Makes the HTTP application of the controller from the table of endpoints; a repeated request gets the answer of the first one. */
import { randomUUID } from "node:crypto";
import { type Context, Hono } from "hono";
import { type SqlBool, sql } from "kysely";
import { type Database, isAway } from "../database/connect.ts";
import { digestOf } from "../digest.ts";
import { readerOf } from "./checks.ts";
import { documentOf, ref } from "./documents.ts";
import { type ApiContext, type Endpoint, endpointsOf, openApi } from "./endpoint.ts";
import { fleetHandlers } from "./endpoints/fleet.ts";
import { countRequests, healthHandlers } from "./endpoints/health.ts";
import { assertExpected, hookHandlers } from "./endpoints/incoming-webhooks.ts";
import { manifestHandlers } from "./endpoints/manifests.ts";
import { runHandlers } from "./endpoints/runs.ts";
import { stateHandlers } from "./endpoints/state.ts";
import { json, Problem, problemAnswer, problemOf } from "./problem.ts";
import { type Bindings, guard, peerOf, type Rate } from "./tokens.ts";

export interface AppOptions extends Pick<ApiContext, "database" | "queue" | "config" | "version"> {
  /** Requests of one token, and failed sign-ins of one address. Default 50 a second, 200 at once. */
  readonly rate?: Rate;
  readonly streams?: Partial<ApiContext["streams"]>;
  /** Told of errors that an answer hides. */
  readonly onTrouble?: (error: unknown) => void;
}

/** Every path of the controller but its document's own. */
export const endpoints: readonly Endpoint[] = endpointsOf({
  ...healthHandlers,
  ...fleetHandlers,
  ...manifestHandlers,
  ...runHandlers,
  ...stateHandlers,
  ...hookHandlers,
});

export const documentPath = "/api/v1/openapi.json";

type App = Hono<{ Bindings: Bindings }>;
type Exchange = Context<{ Bindings: Bindings }>;

/** Makes the application; nothing is asked of the database before the first request. */
export function createApp(options: AppOptions): App {
  const { database, queue, config, version, onTrouble = () => undefined } = options;
  const streams = { poll: 1_000, keepAlive: 15_000, longest: 600_000, ...options.streams };
  const requests = countRequests();
  const context: ApiContext = { database, queue, config, version, counted: requests.lines, streams };
  const letIn = guard(database, options.rate ?? { perSecond: 50, burst: 200 });

  const answer = async (
    row: Endpoint,
    read: ReturnType<typeof readerOf>,
    exchange: Exchange,
  ): Promise<Response> => {
    const request = exchange.req.raw;
    const { headers, signal } = request;
    const caller = await letIn(
      row,
      headers,
      peerOf(exchange.env ?? {}, headers, config.current().http.trustProxy),
    );
    assertExpected(row, context, headers);
    const input = await read(request, exchange.req.param(), caller.tenant);
    const work = async (): Promise<Response> => {
      const done = await row.handle({ context, caller, ...input, headers, signal });
      if (done instanceof Response) return done;
      const [status = "", name = ""] = Object.entries(row.answers)[0] ?? [];
      return json(Number(status), documentOf(ref(name ?? ""), done));
    };
    const key = headers.get("idempotency-key");
    if (key === null || !row.isRepeatable) return work();
    const { pathname, search } = new URL(request.url);
    return once(database, [caller.id, key], [row.method, pathname, search, input.bytes], work, onTrouble);
  };

  const refuse = (error: unknown): Response => {
    const problem = problemOf(error);
    if (problem !== error) onTrouble(error);
    return problemAnswer(problem);
  };
  const app: App = new Hono();
  const methods = new Map<string, string[]>();
  for (const row of endpoints) {
    const path = row.path.replace(/\{(\w+)\}/g, ":$1");
    const read = readerOf(row);
    methods.set(path, [...(methods.get(path) ?? []), row.method]);
    app.on(row.method, path, async (exchange) => {
      const response = await answer(row, read, exchange).catch(refuse);
      response.headers.set("x-content-type-options", "nosniff");
      requests.add(row.method, row.path, response.status);
      return response;
    });
  }
  const document = openApi(endpoints, version);
  app.get(documentPath, () => json(200, document));
  for (const [path, allowed] of methods)
    app.all(path, () => refuse(new Problem("method-not-allowed", undefined, { allow: allowed.join(", ") })));
  app.notFound(() => refuse(new Problem("not-found")));
  app.onError(refuse);
  return app;
}

/**
 * Does `work` once for a key: for a day, later requests get its answer. A refusal gives the key back, and so does an error of which the
 * database has undone the work. Rejects with a Problem if the key belongs to another request, or if the first one is still being answered;
 * one without an answer for ten minutes has died, or nothing is known of its work.
 */
async function once(
  database: Database,
  [token, key]: readonly [token: string, key: string],
  parts: readonly (string | Buffer)[],
  work: () => Promise<Response>,
  onTrouble: (error: unknown) => void,
): Promise<Response> {
  if (!/^[\x21-\x7e]{1,255}$/.test(key))
    throw new Problem("invalid-request", "an Idempotency-Key has 1 to 255 visible characters");
  const digest = digestOf(...parts).toString("hex");
  const isMine = sql<SqlBool>`token_id = ${token} AND key = ${key}`;
  await sql`DELETE FROM graphform.answers WHERE ${isMine} AND at < clock_timestamp()
    - CASE WHEN status = 0 AND digest = ${digest} THEN interval '10 minutes' ELSE interval '1 day' END`.execute(
    database,
  );
  // Tells this request from one that takes its place.
  const own = randomUUID();
  const made = await database
    .insertInto("answers")
    .values({ token_id: token, key, digest, status: 0, body: own })
    .onConflict((conflict) => conflict.doNothing())
    .returning("key")
    .executeTakeFirst();
  if (made === undefined) {
    const stored = await database.selectFrom("answers").selectAll().where(isMine).executeTakeFirst();
    if (stored !== undefined && stored.digest !== digest) throw new Problem("key-reused");
    if (stored === undefined || stored.status === 0)
      throw new Problem("in-progress", undefined, { "retry-after": "1" });
    const headers = { "content-type": "application/json", "idempotency-replayed": "true" };
    return new Response(stored.body, { status: stored.status, headers });
  }
  const isOwn = sql<SqlBool>`${isMine} AND status = 0 AND body = ${own}`;
  let answer: Response;
  try {
    answer = await work();
  } catch (error) {
    const row = database.deleteFrom("answers").where(isOwn);
    // A transaction may have been committed though its end was not heard.
    if (!isAway(error)) await row.execute().catch(onTrouble);
    throw error;
  }
  const kept = { status: answer.status, body: await answer.clone().text() };
  const row = database.updateTable("answers").set(kept).where(isOwn);
  await row.execute().catch(onTrouble);
  return answer;
}
