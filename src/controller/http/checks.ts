/** @module Reads requests within bounds and checks them by the schemas of their endpoint. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { idSchema, nameSchema, record } from "./documents.ts";
import type { Endpoint, Query, Schema } from "./endpoint.ts";
import { Problem } from "./problem.ts";

/** Bytes of a body if the endpoint says nothing else. */
const usualBody = 64 * 1024;

/** The checks of one endpoint; all throw a Problem. */
export interface Checks {
  path(parameters: { readonly [name: string]: string }): { readonly [name: string]: string };
  query(parameters: URLSearchParams): Query;
  /** The body as it came, and its value by the schema. */
  body(request: Request): Promise<{ readonly bytes: Buffer; readonly value: unknown }>;
}

/** Schemas of the parameters of paths, by name. */
export const pathSchemas: { readonly [name: string]: Schema } = {
  tenant: nameSchema,
  name: nameSchema,
  run: idSchema,
};

/** Compiles the checks of an endpoint with their first use. */
export function checksOf({ path, query = {}, body, maxBody = usualBody }: Endpoint): Checks {
  const compile = <T>(schema: Schema, isText: boolean): (() => ValidateFunction<T>) => {
    let made: ValidateFunction<T> | undefined;
    return () => {
      made ??= (isText ? ofTexts : ofValues).compile<T>(schema);
      return made;
    };
  };
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const pathCheck = compile(
    record(Object.fromEntries(names.map((name) => [name, pathSchemas[name] ?? {}]))),
    true,
  );
  const queryCheck = compile<Query>(record(query, Object.keys(query)), true);
  const bodyCheck = typeof body === "object" ? compile(body, false) : undefined;
  return {
    path(parameters) {
      const check = pathCheck();
      if (!check(parameters)) throw new Problem("not-found");
      return parameters;
    },
    query(parameters) {
      const check = queryCheck();
      const given: unknown = Object.fromEntries(parameters);
      if (!check(given)) throw new Problem("invalid-request", saying("the query", check.errors));
      return given;
    },
    async body(request) {
      if (body === undefined) return { bytes: Buffer.alloc(0), value: undefined };
      if (bodyCheck !== undefined) assertJson(request.headers);
      const bytes = await readBody(request, maxBody);
      if (bodyCheck === undefined) return { bytes, value: undefined };
      const value = parse(bytes);
      const check = bodyCheck();
      if (!check(value)) throw new Problem("invalid-request", saying("the body", check.errors));
      if (!isPlain(value))
        throw new Problem("invalid-request", "the body has characters that no text of the database may have");
      return { bytes, value };
    },
  };
}

const formats = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  "date-time": (text: string) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text)),
};
const ofValues = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, formats });
const ofTexts = new Ajv2020({ coerceTypes: true, strictTypes: false, formats });

/** The first fault; of what was sent, it names the place alone. */
function saying(what: string, errors: readonly ErrorObject[] | null | undefined): string {
  const [error] = errors ?? [];
  const place = error?.instancePath.slice(0, 200) ?? "";
  return `${what}${place === "" ? "" : ` at ${place}`} ${error?.message ?? "does not fit its schema"}`;
}

function assertJson(headers: Headers): void {
  const type = headers.get("content-type") ?? "";
  const isCoded = (headers.get("content-encoding") ?? "identity") !== "identity";
  if (!/^application\/json\s*(;|$)/i.test(type) || isCoded) throw new Problem("wrong-type");
}

/** Reads a body of at most `limit` bytes. */
export async function readBody(request: Request, limit: number): Promise<Buffer> {
  const tooLarge = (): Problem => new Problem("too-large", `at most ${limit} bytes are taken here`);
  if (Number(request.headers.get("content-length") ?? 0) > limit) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.length;
      if (size > limit) break;
      chunks.push(chunk);
    }
  } catch {
    throw new Problem("invalid-request", "the body did not arrive");
  }
  if (size > limit) throw tooLarge();
  return Buffer.concat(chunks);
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Problem("invalid-json");
  }
}

/** True if no text in a value has a null character or half of a pair: PostgreSQL stores neither. */
export function isPlain(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, inner]) => isPlain(key) && isPlain(inner));
}
