/** @module Lists paths, size limits and error formats of both hosts, and reads bodies. */
import { STATUS_CODES } from "node:http";
import { isObject, type Json, type JsonObject, jsonIn, nestingOf } from "../../model/json.ts";
import { objectIn, problemsIn, refuse } from "../control/validate.ts";
import type { Dialect } from "../dialect/dialect.ts";
import { errorBody, ServiceError } from "../model/service-error.ts";

/** Version segment of every path of the platform host. */
export const version: string = "/2022-09-01-00";

/** Maximum size of a request body, in bytes. */
export const maxBody: number = 1024 * 1024;

/** Maximum size of a body without a session (credentials and tokens), in bytes. */
export const maxOpenBody: number = 16 * 1024;

/** Path below `version` with the parameters `:model`, `:tier` and `:resource`. */
export function componentPath({ provider, service }: Dialect): string {
  return `/resource-instance/${provider}/${service}/v1/prod/:model/:tier/:resource`;
}

export interface ErrorFormat {
  readonly name: "platform" | "users";
  readonly error: (status: number, message: string) => Response;
}

export const platformErrorFormat: ErrorFormat = {
  name: "platform",
  error: (status, message) => answer(status, "application/vnd.goa.error", errorBody(status, message)),
};

/** Errors of the users host: `{statusCode, error, message}` as plain JSON. */
export const usersErrorFormat: ErrorFormat = {
  name: "users",
  error: (status, message) =>
    answer(status, "application/json; charset=utf-8", {
      statusCode: status,
      error: STATUS_CODES[status] ?? "Error",
      message: message.slice(0, 4000),
    }),
};

function answer(status: number, mediaType: string, body: JsonObject): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": mediaType } });
}

/** Types of the fields of a body; `text` is a string that is not empty. */
export interface FieldTypes {
  readonly [key: string]: "text" | "boolean" | "any";
}

type Fields<T extends FieldTypes> = JsonObject & {
  readonly [key in keyof T]?: T[key] extends "text" ? string : T[key] extends "boolean" ? boolean : Json;
};

/**
 * The body as an object, empty without one. Throws ServiceError 400 for another type, a wrong or missing field, or an unknown
 * one: a field that has no effect must not be accepted.
 */
export function fieldsOf<T extends FieldTypes>(
  body: Json | undefined,
  types: T,
  required: readonly string[] = [],
): Fields<T> {
  const fields = objectIn(body === undefined ? {} : body, "the body must be a JSON object");
  const missing = required.filter((key) => typeof fields[key] !== "string" || fields[key] === "");
  refuse([
    ...problemsIn(fields, {}, { others: Object.keys(types) }),
    ...missing.map((key) => `${key} is required`),
  ]);
  if (hasTypes(fields, types)) return fields;
  const wrong = Object.keys(fields).find((key) => !isOfType(fields[key], types[key])) ?? "";
  const wanted = types[wrong] === "boolean" ? "true or false" : "a string";
  throw new ServiceError(400, `${wrong} must be ${wanted}`);
}

function hasTypes<T extends FieldTypes>(fields: JsonObject, types: T): fields is Fields<T> {
  return Object.entries(fields).every(([key, value]) => isOfType(value, types[key]));
}

function isOfType(value: Json | undefined, type: FieldTypes[string] | undefined): boolean {
  if (type === "boolean") return typeof value === "boolean";
  return type === "any" || (typeof value === "string" && value !== "");
}

/** The tags; undefined if the body has none. Throws ServiceError 400 for malformed tags. */
export function tagsOf(body: Json): readonly JsonObject[] | undefined {
  const tags = isObject(body) ? body["customTags"] : undefined;
  if (tags === undefined) return undefined;
  const isTag = (tag: Json): tag is JsonObject =>
    isObject(tag) && typeof tag["key"] === "string" && typeof tag["value"] === "string";
  if (!Array.isArray(tags) || !tags.every(isTag))
    throw new ServiceError(400, "customTags must be a list of objects with key and value");
  return tags;
}

/** The bytes that bodies may still use, shared by all requests of some clients. */
export interface BodyBudget {
  left: number;
}

export interface BodyReader {
  /** Reads the text. Throws ServiceError 413 above the maximum size, 503 if the memory budget is used up; the rest is not read then. */
  read(): Promise<string>;
  /** Gives its bytes back to the budget; the text must not be used afterwards. */
  release(): void;
}

/** Opens a body of at most `largest` bytes. Reads and reserves nothing before `read`. */
export function openBody(request: Request, largest: number, budget: BodyBudget): BodyReader {
  let taken = 0;
  const take = (bytes: number): void => {
    if (taken + bytes > largest) throw new ServiceError(413, `the body is larger than ${sizeText(largest)}`);
    if (bytes > budget.left) throw new ServiceError(503, "too many large requests at once", 1);
    budget.left -= bytes;
    taken += bytes;
  };
  return {
    async read() {
      const announced = request.headers.get("content-length");
      if (announced !== null) take(Number(announced));
      if (announced !== null) return whole(request.text());
      if (request.headers.get("transfer-encoding") === null) return "";
      return whole(collect(request.body, take));
    },
    release() {
      budget.left += taken;
      taken = 0;
    },
  };
}

async function collect(body: Request["body"], take: (bytes: number) => void): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) {
    take(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** An aborted request is the client's error, not the platform's. */
async function whole(text: Promise<string>): Promise<string> {
  return text.catch((error: unknown) => {
    throw error instanceof ServiceError
      ? error
      : new ServiceError(400, "the body ends before its announced end");
  });
}

function sizeText(bytes: number): string {
  return bytes >= 1024 ** 2 ? `${bytes / 1024 ** 2} MiB` : `${bytes / 1024} KiB`;
}

/** Maximum nesting of lists and objects; real requests are far below. */
const deepest = 64;

/** Undefined for an empty body. Throws ServiceError 400 for malformed or deeply nested JSON, 415 for another media type. */
export function parseJson(text: string, contentType: string | undefined): Json | undefined {
  if (text === "") return undefined;
  if (!/^application\/([a-z0-9.-]+\+)?json\b/i.test(contentType ?? "application/json"))
    throw new ServiceError(415, "the body must be application/json");
  const value = jsonIn(text);
  if (value === undefined) throw new ServiceError(400, "the body is not valid JSON");
  if (nestingOf(text).deepest > deepest)
    throw new ServiceError(400, `the body is nested deeper than ${deepest} levels`);
  return value;
}
