/** @module Defines endpoints as rows of a table: routing, the checks of a request, its answer and the OpenAPI document are made from it. */
import type { LiveConfig } from "../config/config.ts";
import type { Database } from "../database/connect.ts";
import { roles } from "../database/schema.ts";
import type { Queue } from "../queue/queue.ts";
import { bodies, components, members, pathSchemas, ref, type Schema } from "./documents.ts";
import type { Access, Caller } from "./tokens.ts";

export interface ApiContext {
  readonly database: Database;
  readonly queue: Queue;
  readonly config: LiveConfig;
  readonly version: string;
  /** Lines of the metrics that this process counts itself. */
  readonly counted: () => readonly string[];
  /** Ms between two looks for events of a run, between signs of life in a stream, and the longest stream. */
  readonly streams: { readonly poll: number; readonly keepAlive: number; readonly longest: number };
}

export interface Query {
  readonly tenant?: string;
  readonly manifest?: string;
  readonly status?: string;
  readonly limit?: number;
  readonly after?: string;
  readonly ID?: string;
}

/** One request, after all checks. `bytes` is the body as it came. */
export interface Call<Body = unknown> {
  readonly context: ApiContext;
  readonly caller: Caller;
  readonly path: { readonly [name: string]: string };
  readonly query: Query;
  readonly body: Body;
  readonly bytes: Buffer;
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

/** A row of the table. */
export interface Endpoint extends Access {
  readonly method: string;
  /** With parameters as `{name}`, which `parameters` lists. */
  readonly path: string;
  readonly parameters: readonly string[];
  readonly id: string;
  readonly summary: string;
  readonly query?: { readonly [name in keyof Query]?: Schema };
  /** Schema of the JSON body, which is then required. `bytes`: any body. */
  readonly body?: Schema | "bytes";
  readonly maxBody: number;
  /** Answers that are no problems, by status: a document's name, another type than JSON, or null for no body. The lowest one is the usual one. */
  readonly answers: { readonly [status: string]: string | null };
  /** True if an Idempotency-Key may come with it: it changes something, and takes no other body than JSON. */
  readonly isRepeatable: boolean;
  /** Resolves with an answer, or with the content of the usual one: a document, or rows of the database with its members. */
  handle(call: Call): Promise<Response | object>;
}

/** The work of endpoints, by their ids. A body is what its schema describes. */
export interface Handlers {
  readonly [id: string]: Endpoint["handle"];
}

/** Method and path, role (`/all`: only for tokens that are not of one tenant), id, query, body, answers, and summary of every endpoint. */
const table = `
GET /healthz | public | health | | | 200 Healthy | Says that the process is alive
GET /readyz | public | readiness | | | 200 Ready | Says that the database answers and has the tables of this version
GET /metrics | viewer | metrics | | | 200 text/plain | Metrics in Prometheus' text format; a tenant's token sees those of its own
GET /api/v1/tenants | viewer | listTenants | | | 200 Tenants | Lists the tenants of the configuration, with the number of their manifests
GET /api/v1/drift | viewer | showDrift | tenant: name, limit: limit, after: page | | 200 Drift | Lists manifests that have drifted
GET /api/v1/locks | viewer | listLocks | tenant: name | | 200 Locks | Lists the states that are locked, with their holders
GET /api/v1/workers | viewer/all | listWorkers | | | 200 Workers | Lists the workers, which work for all tenants
GET /api/v1/audit | approver | listAudit | tenant: name, limit: limit, after: act | | 200 Audit | Lists acts, newest first
GET /api/v1/audit/check | admin/all | checkAudit | | | 200 AuditCheck | Finds the first act of the audit log that was altered
POST /api/v1/redrive | approver | redrive | tenant: name | empty | 202 Redriven | Asks for a new run of each manifest whose last one failed
GET /api/v1/manifests | viewer | listManifests | tenant: name, status: status, limit: limit, after: page | | 200 Manifests | Lists manifests by name
POST /api/v1/manifests | admin | addManifest | | newManifest | 201 Added | Adds a manifest from Git, or with its files, and asks for its first run
GET /api/v1/manifests/{tenant}/{name} | viewer | showManifest | | | 200 Manifest | Shows a manifest
PATCH /api/v1/manifests/{tenant}/{name} | admin | changeManifest | | change | 200 Manifest | Changes how a manifest is checked
DELETE /api/v1/manifests/{tenant}/{name} | admin | removeManifest | | | 200 Done | Takes a manifest out; its databases and its state stay
PUT /api/v1/manifests/{tenant}/{name}/files | planner | uploadFiles | | upload | 202 Asked | Replaces uploaded files; asks for a run if they differ
POST /api/v1/manifests/{tenant}/{name}/runs | planner | reconcile | | empty | 202 Asked | Asks for a run now
POST /api/v1/manifests/{tenant}/{name}/pause | approver | pause | | pause | 200 Done | Stops the checks until a time; null ends the pause
GET /api/v1/runs | viewer | listRuns | tenant: name, manifest: name, status: runStatus, limit: limit, after: id | | 200 Runs | Lists runs, newest first
GET /api/v1/approvals | viewer | listApprovals | tenant: name, limit: limit, after: id | | 200 Runs | Lists runs that wait for an approval
GET /api/v1/runs/{run} | viewer | showRun | | | 200 RunDetails | Shows a run and what was decided about it
GET /api/v1/runs/{run}/plan | viewer | showPlan | | | 200 Plan | Shows the plan of a run
GET /api/v1/runs/{run}/events | viewer | followRun | | | 200 text/event-stream, 204 | Streams the events of a run after Last-Event-ID
POST /api/v1/runs/{run}/approve | approver | approve | | approval | 200 Done | Approves exactly the plan with this fingerprint
POST /api/v1/runs/{run}/discard | approver | discard | | empty | 200 Done | Ends a run that waits, or was approved and has not begun
POST /api/v1/runs/{run}/cancel | approver | cancel | | cancel | 200 Done | Asks for the end of a run; by force, a minute later, without its worker
GET /api/v1/state/{tenant}/{name} | approver | readState | | | 200 State, 204 | Reads a state with its key: 204 if it is locked and has no document
POST /api/v1/state/{tenant}/{name} | approver | writeState | ID: lock | state | 200, 409 LockInfo | Stores a state with a new serial
DELETE /api/v1/state/{tenant}/{name} | approver | removeState | ID: lock | bytes | 200, 409 LockInfo | Removes a state; its earlier versions stay
GET /api/v1/state/{tenant}/{name}/lock | viewer | showLock | | | 200 LockInfo | Shows the holder of the lock
POST /api/v1/state/{tenant}/{name}/lock | approver | lockState | | bytes | 200 LockInfo, 409 LockInfo | Takes the lock; 409 shows the holder
DELETE /api/v1/state/{tenant}/{name}/lock | approver | unlockState | ID: lock | bytes | 200, 409 LockInfo | Gives back the lock of the ID, in the query or body
POST /hooks/github | public | githubHook | | hook | 202 Done | Takes signed webhooks: a push asks for runs
POST /hooks/gitlab | public | gitlabHook | | hook | 202 Done | Takes signed webhooks: a push asks for runs`;

/**
 * MiB of the largest bodies; others have 64 KiB. A push names at most 2 048 commits, with some 700 bytes each; one with more is refused, and
 * the check at the interval finds its commit.
 */
const maxBodies = new Map(Object.entries({ newManifest: 8, upload: 8, hook: 2, state: 32 }));

/** The table, with the work of each endpoint. */
export function endpointsOf(handlers: Handlers): readonly Endpoint[] {
  const rows = table.trim().split("\n");
  return rows.map((row) => {
    const [at = "", access = "", id = "", query = "", body = "", answers = "", summary = ""] = row
      .split("|")
      .map((cell) => cell.trim());
    const [method = "", path = ""] = at.split(" ");
    const [least, scope] = access.split("/");
    const role = [...roles, "public" as const].find((known) => known === least);
    const schema = ["", "bytes", "hook", "state"].includes(body) ? "bytes" : bodies[body];
    const handle = handlers[id];
    if (role === undefined || schema === undefined || handle === undefined)
      throw new Error(`the endpoint ${id} has no such role, body or work`);
    return {
      ...{ method, path, id, summary, role, handle },
      ...(scope === "all" && { scope }),
      ...(path.startsWith("/api/v1/state/") && { basic: true }),
      ...(query === "" ? {} : { query: members(query).properties ?? {} }),
      ...(body === "" ? {} : { body: schema }),
      parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name),
      maxBody: (maxBodies.get(body) ?? 1 / 16) * 1024 * 1024,
      answers: Object.fromEntries(answers.split(", ").map(answerOf)),
      isRepeatable: method !== "GET" && schema !== "bytes" && role !== "public",
    };
  });
}

function answerOf(text: string): readonly [status: string, answer: string | null] {
  const [status = "", answer = null] = text.split(" ");
  return [status, answer];
}

export function openApi(endpoints: readonly Endpoint[], version: string): Schema {
  const paths: { [path: string]: { [method: string]: Schema } } = {};
  for (const row of endpoints)
    paths[row.path] = { ...paths[row.path], [row.method.toLowerCase()]: operation(row) };
  const basic = { type: "http", scheme: "basic", description: "The token as the password of any user." };
  const securitySchemes = { bearer: { type: "http", scheme: "bearer" }, basic };
  const info = { title: "graphform controller", version };
  return { openapi: "3.1.0", info, paths, components: { schemas: components, securitySchemes } };
}

function operation(row: Endpoint): Schema {
  const { id, summary, role, scope, query = {}, body, answers, basic } = row;
  const key = {
    name: "Idempotency-Key",
    in: "header",
    schema: { type: "string", minLength: 1, maxLength: 255 },
  };
  const parameters = [
    ...row.parameters.map((name) => ({ name, in: "path", required: true, schema: pathSchemas[name] ?? {} })),
    ...Object.entries(query).map(([name, schema]) => ({ name, in: "query", schema })),
    ...(row.isRepeatable ? [key] : []),
  ];
  const problem = { "application/problem+json": { schema: ref("Problem") } };
  const responses = Object.entries(answers).map(([status, answer]): readonly [string, Schema] => {
    const content = contentOf(answer);
    if (Number(status) >= 400)
      return [status, { description: "Refused.", content: { ...content, ...problem } }];
    return [status, { description: status === "202" ? "Asked for." : "Done.", ...(answer && { content }) }];
  });
  const needs = `Takes a token for ${scope === "all" ? "all tenants" : "the tenant"} with the role ${role} or one above it.`;
  const schema = body === "bytes" ? {} : body;
  return {
    operationId: id,
    summary,
    ...(role === "public" ? {} : { description: needs }),
    parameters,
    ...(body === undefined
      ? {}
      : { requestBody: { required: body !== "bytes", content: { "application/json": { schema } } } }),
    responses: { ...Object.fromEntries(responses), default: { description: "Refused.", content: problem } },
    security: role === "public" ? [] : [{ bearer: [] }, ...(basic === true ? [{ basic: [] }] : [])],
  };
}

function contentOf(answer: string | null): Schema {
  if (answer === null) return {};
  const isType = answer.includes("/");
  return { [isType ? answer : "application/json"]: { schema: isType ? { type: "string" } : ref(answer) } };
}
