/** @module Reads requests within bounds and checks them by the schemas of their endpoint. */
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { pathSchemas, record } from "./documents.ts";
import type { Call, Endpoint, Query } from "./endpoint.ts";
import { Problem } from "./problem.ts";

const dateTime = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const formats = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  "date-time": (text: string) => isDay(dateTime.exec(text)?.[1] ?? "none") && !Number.isNaN(Date.parse(text)),
};
const ajv = new Ajv2020({ strictTypes: false, formats, verbose: true });
const ajvOfTexts = new Ajv2020({ strictTypes: false, formats, coerceTypes: true });

/** True for a day of the calendar: Date.parse takes 31 February for 3 March. */
function isDay(day: string): boolean {
  return String(new Date(`${day}T00:00:00Z`).toJSON()).startsWith(day);
}

/** The parts of a request that are checked. `bytes` is the body as it came. */
export type Input = Pick<Call, "path" | "query" | "bytes" | "body">;

/** Returns the function that reads requests of an endpoint, within a tenant or null for all; it throws a Problem. */
export function readerOf({
  parameters,
  query = {},
  body,
  maxBody,
}: Endpoint): (request: Request, path: Call["path"], within: string | null) => Promise<Input> {
  const schemas = parameters.map((name) => [name, pathSchemas[name] ?? {}]);
  const isPath = ajv.compile(record(Object.fromEntries(schemas)));
  const isQuery = ajvOfTexts.compile<Query>(record(query, Object.keys(query)));
  const isBody = ajv.compile(typeof body === "object" ? body : {});
  return async (request, path, within) => {
    // The same answer for objects of other tenants and for absent ones, before any query.
    const isOther = within !== null && path["tenant"] !== undefined && path["tenant"] !== within;
    if (!isPath(path) || isOther) throw new Problem("not-found");
    const asked = plain(Object.fromEntries(new URL(request.url).searchParams));
    if (!isQuery(asked)) throw invalid("the query", isQuery.errors);
    if (body === undefined) return { path, query: asked, bytes: Buffer.alloc(0), body: undefined };
    const { headers } = request;
    const isJson = /^application\/json\s*(;|$)/i.test(headers.get("content-type") ?? "");
    if ((body !== "bytes" && !isJson) || (headers.get("content-encoding") ?? "identity") !== "identity")
      throw new Problem("wrong-type");
    const bytes = await readBody(request, maxBody);
    if (body === "bytes") return { path, query: asked, bytes, body: undefined };
    const value = jsonIn(bytes);
    if (value === undefined) throw new Problem("invalid-json");
    if (!isBody(value)) throw invalid("the body", isBody.errors);
    return { path, query: asked, bytes, body: plain(value) };
  };
}

/** The first fault; it names the place in the request, and never its value. */
function invalid(what: string, errors: readonly ErrorObject[] | null | undefined): Problem {
  const [{ instancePath = "", message = "does not fit its schema", params, parentSchema = {} } = {}] =
    errors ?? [];
  const place = instancePath && ` at ${instancePath.slice(0, 200)}`;
  const allowed: readonly unknown[] = params?.["allowedValues"] ?? [];
  const listed = allowed.length === 0 ? message : `must be one of ${allowed.join(", ")}`;
  const { format, description } = parentSchema;
  const words = format === "date-time" && description !== undefined ? `must be ${description}` : listed;
  return new Problem("invalid-request", `${what}${place} ${words}`);
}

async function readBody(request: Request, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = Number(request.headers.get("content-length") ?? 0) > limit ? Number.POSITIVE_INFINITY : 0;
  try {
    for await (const chunk of size > limit ? [] : (request.body ?? [])) {
      size += chunk.length;
      if (size > limit) break;
      chunks.push(chunk);
    }
  } catch {
    throw new Problem("invalid-request", "the body did not arrive");
  }
  if (size > limit) throw new Problem("too-large", `at most ${limit} bytes are taken here`);
  return Buffer.concat(chunks);
}

/** The value of a JSON text in UTF-8 without a byte order mark; undefined for anything else. */
function jsonIn(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

export function objectIn(bytes: Uint8Array): { readonly [key: string]: unknown } | undefined {
  const value = jsonIn(bytes);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

function plain(value: unknown): unknown {
  if (isPlain(value)) return value;
  throw new Problem("invalid-request", "it has characters that no text of the database may have");
}

/** True if no text in a value has a null character or half of a pair: PostgreSQL stores neither. Not for deep values. */
export function isPlain(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, inner]) => isPlain(key) && isPlain(inner));
}
