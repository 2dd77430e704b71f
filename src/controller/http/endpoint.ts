/** @module Defines endpoints as rows of a table: routing, the checks of a request, its answer and the OpenAPI document are made from it. */
import type { LiveConfig } from "../config/config.ts";
import type { Database } from "../database/connect.ts";
import type { Queue } from "../queue/queue.ts";
import { components, pathSchemas, ref, type Schema } from "./documents.ts";
import type { Access, Caller } from "./tokens.ts";

export interface World {
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
  readonly world: World;
  readonly caller: Caller;
  readonly path: { readonly [name: string]: string };
  readonly query: Query;
  readonly body: Body;
  readonly bytes: Buffer;
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

/** The input and the answers of an endpoint. */
interface Terms extends Omit<Access, "role"> {
  readonly query?: { readonly [name in keyof Query]?: Schema };
  /** Schema of the JSON body, which is then required. `bytes`: any body. */
  readonly body?: Schema | "bytes";
  /** Bytes of the largest body. Default 64 KiB. */
  readonly maxBody?: number;
  /** Answers that are no problems, by status: a document's name, another type than JSON, or null for no body. The lowest one is the usual one. */
  readonly answers: { readonly [status: number]: string | null };
}

export interface Endpoint extends Terms, Access {
  readonly method: string;
  /** With parameters as `{name}`, which `parameters` lists. */
  readonly path: string;
  readonly parameters: readonly string[];
  readonly id: string;
  readonly summary: string;
  /** True if an Idempotency-Key may come with it: it changes something, and takes no other body than JSON. */
  readonly isRepeatable: boolean;
  /** Resolves with an answer, or with what the usual one shows: a document, or rows of the database with its members. */
  handle(call: Call): Promise<Response | object>;
}

/** Makes a row from `METHOD /path`, its id, summary and role, its terms and its work. `Body` is what the schema of the body describes. */
export function endpoint<Body = unknown>(
  at: string,
  [id, summary, role]: readonly [id: string, summary: string, role: Endpoint["role"]],
  terms: Terms,
  handle: (call: Call<Body>) => Promise<Response | object>,
): Endpoint {
  const [method = "", path = ""] = at.split(" ");
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const isRepeatable = method !== "GET" && terms.body !== "bytes" && role !== "public";
  const row = { handle };
  return {
    ...{ method, path, parameters, id, summary, role, isRepeatable, ...terms },
    handle: (call: Call<never>) => row.handle(call),
  };
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
