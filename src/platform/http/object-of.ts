/** @module Reads a request body as an object with known fields, and its tags. */
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

/** The tags; undefined where the body has none. Throws ServiceError 400 for malformed tags. */
export function tagsOf(body: Json): readonly JsonObject[] | undefined {
  const tags = isObject(body) ? body["customTags"] : undefined;
  if (tags === undefined) return undefined;
  const isTag = (tag: Json): tag is JsonObject =>
    isObject(tag) && typeof tag["key"] === "string" && typeof tag["value"] === "string";
  if (!Array.isArray(tags) || !tags.every(isTag)) {
    throw new ServiceError(400, "customTags must be a list of objects with key and value");
  }
  return tags;
}
