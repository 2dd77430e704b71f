/** @module Reads a request body as an object with known fields. */
import { isObject, type Json, type JsonObject } from "../../model/json.ts";
import { ServiceError } from "../model/service-error.ts";

/**
 * The body as an object, empty without a body. Throws ServiceError 400 for another type or an unknown field: a field that has no
 * effect must not be accepted.
 */
export function objectOf(body: Json | undefined, fields: readonly string[]): JsonObject {
  if (body === undefined) return {};
  if (!isObject(body)) throw new ServiceError(400, "the body must be a JSON object");
  const unknown = Object.keys(body).filter((key) => !fields.includes(key));
  if (unknown.length === 0) return body;
  throw new ServiceError(400, unknown.map((key) => `${key} is not a field of this request`).join("; "));
}
