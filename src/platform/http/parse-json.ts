/** @module Parses request bodies as JSON of limited depth. */
import type { Json } from "../../model/json.ts";
import { ServiceError } from "../model/service-error.ts";

/** Maximum nesting of lists and objects; real requests are far below. */
const deepest = 64;

/**
 * The parsed body; undefined for an empty one. Throws ServiceError 400 for malformed or too deeply nested JSON, 415 for another
 * media type.
 */
export function parseJson(text: string, contentType: string | undefined): Json | undefined {
  if (text === "") return undefined;
  if (!/^application\/([a-z0-9.-]+\+)?json\b/i.test(contentType ?? "application/json")) {
    throw new ServiceError(415, "the body must be application/json");
  }
  const value = parsed(text);
  if (isDeeper(value, deepest))
    throw new ServiceError(400, `the body is nested deeper than ${deepest} levels`);
  return value;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    throw new ServiceError(400, "the body is not valid JSON");
  }
}

/** Checks level by level: recursion would overflow the stack on deep values. */
function isDeeper(value: Json, levels: number): boolean {
  let level: readonly Json[] = [value];
  for (let depth = 0; depth <= levels; depth += 1) {
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
    if (level.length === 0) return false;
  }
  return true;
}
