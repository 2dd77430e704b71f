import { isObject, type Json, type JsonObject } from "../../model/json.ts";
import { ServiceError } from "../model/service-error.ts";

/** A body as an object of these fields; none is an empty one. 400 for anything else: what is not done must not be taken. */
export function objectOf(body: Json | undefined, fields: readonly string[]): JsonObject {
  if (body === undefined) return {};
  if (!isObject(body)) throw new ServiceError(400, "the body must be a JSON object");
  const unknown = Object.keys(body).filter((key) => !fields.includes(key));
  if (unknown.length === 0) return body;
  throw new ServiceError(400, unknown.map((key) => `${key} is not a field of this request`).join("; "));
}
