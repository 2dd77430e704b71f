/** @module Defines one endpoint: routing, the checks of a request, its answer and the OpenAPI document are made from the same row. */
import type { LiveConfig } from "../config/config.ts";
import type { Database } from "../database/connect.ts";
import type { Role } from "../database/schema.ts";
import type { Queue } from "../queue/queue.ts";
import type { Schema } from "./documents.ts";
import type { Caller } from "./tokens.ts";

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

/** All query parameters that an endpoint may name. */
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
interface Terms {
  /** `all`: only for tokens that are not of one tenant. */
  readonly scope?: "all";
  readonly query?: { readonly [name in keyof Query]?: Schema };
  /** Schema of the JSON body, which is then required. `bytes`: any body. */
  readonly body?: Schema | "bytes";
  /** Bytes of the largest body. Default 64 KiB. */
  readonly maxBody?: number;
  /** Answers that are no problems, by status: a document's name, another type than JSON, or null for no body. The lowest one is the usual one. */
  readonly answers: { readonly [status: number]: string | null };
  /** True if a user name with the token as its password signs in too, as clients of Terraform's protocol do. */
  readonly basic?: true;
}

/** A row of the table. */
export interface Endpoint extends Terms {
  readonly method: string;
  /** With parameters as `{name}`, which `parameters` lists. */
  readonly path: string;
  readonly parameters: readonly string[];
  readonly id: string;
  readonly summary: string;
  /** The least role. `public` asks for no token. */
  readonly role: Role | "public";
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
