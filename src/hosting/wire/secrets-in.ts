/** @module Finds the secrets of a request body. */
import type { Json } from "../../model/json.ts";
import { isObject } from "../../model/json.ts";

/** Returns the values under keys that contain password, secret or token, so that no message repeats them. */
export function secretsIn(body: Json | undefined): readonly string[] {
  if (Array.isArray(body)) return body.flatMap(secretsIn);
  if (!isObject(body)) return [];
  return Object.entries(body).flatMap(([key, value]) =>
    typeof value === "string" ? (/password|secret|token/i.test(key) ? [value] : []) : secretsIn(value),
  );
}
