/** @module Defines one endpoint: routing, the checks of a request and the OpenAPI document are made from the same row. */
import type { LiveConfig } from "../config/config.ts";
import type { Database } from "../database/connect.ts";
import type { Role } from "../database/schema.ts";
import type { Queue } from "../queue/queue.ts";
import type { Metrics } from "./counters.ts";
import type { Caller } from "./tokens.ts";

/** What endpoints work with. */
export interface World {
  readonly database: Database;
  readonly queue: Queue;
  readonly config: LiveConfig;
  readonly version: string;
  readonly metrics: Metrics;
  /** Ms between two looks for events of a run, between signs of life in a stream, and the longest stream. */
  readonly streams: { readonly poll: number; readonly keepAlive: number; readonly longest: number };
}

/** A JSON Schema of draft 2020-12. */
export interface Schema {
  readonly [keyword: string]: unknown;
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

/** One request, after all checks. */
export interface Call<Body = unknown> {
  readonly world: World;
  readonly caller: Caller;
  readonly path: { readonly [name: string]: string };
  readonly query: Query;
  readonly body: Body;
  /** The body as it came; empty if there was none. */
  readonly bytes: Buffer;
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

/** A row of the table. */
export interface Endpoint<Body = unknown> {
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With parameters as `{name}`. */
  readonly path: string;
  readonly summary: string;
  /** The least role. `public` asks for no token. */
  readonly role: Role | "public";
  /** `all`: only for tokens that are not of one tenant. */
  readonly scope?: "all";
  /** Query parameters by name. */
  readonly query?: { readonly [name in keyof Query]?: Schema };
  /** Schema of the JSON body, which is then required. `bytes`: any body. */
  readonly body?: Schema | "bytes";
  /** Bytes of the largest body. Default 64 KiB. */
  readonly maxBody?: number;
  /** Schemas of the answers that are no problems, by status; a text names another type than JSON, null says that there is no body. */
  readonly answers: { readonly [status: number]: Schema | string | null };
  /** True if an answer may be repeated for the same Idempotency-Key. */
  readonly repeats?: true;
  /** True if a user name with the token as its password signs in too, as clients of Terraform's protocol do. */
  readonly basic?: true;
  handle(call: Call<Body>): Promise<Response>;
}

/** A row whose body has a type: the one that its schema describes. */
export function endpoint<Body = unknown>(row: Endpoint<Body>): Endpoint {
  return row;
}

/** An answer with a JSON document. */
export function json(
  status: number,
  document: object,
  headers: { readonly [name: string]: string } = {},
): Response {
  return new Response(JSON.stringify(document), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}
