/** @module Reads the tags of a request body. */
import { isObject, type Json, type JsonObject } from "../../../model/json.ts";
import { ServiceError } from "../../model/service-error.ts";

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
