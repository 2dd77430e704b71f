import type { Json } from "../../model/json.ts";
import { ServiceError } from "../model/service-error.ts";

/** How deep lists and objects may stand in each other; no request of the service comes near it. */
const deepest = 64;

/** A body as JSON; undefined for none. Throws ServiceError 400 where it is no JSON or nested too deep, 415 for another type. */
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

/** Goes level by level: what recurses would run out of stack where this says so. */
function isDeeper(value: Json, levels: number): boolean {
  let level: readonly Json[] = [value];
  for (let depth = 0; depth <= levels; depth += 1) {
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
    if (level.length === 0) return false;
  }
  return true;
}
