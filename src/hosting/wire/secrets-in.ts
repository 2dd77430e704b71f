import type { Json } from "../../model/json.ts";
import { isObject } from "../../model/json.ts";

/** Values of a request's body that must not come back in a message: whatever its key calls a password, secret or token. */
export function secretsIn(body: Json | undefined): readonly string[] {
  if (Array.isArray(body)) return body.flatMap(secretsIn);
  if (!isObject(body)) return [];
  return Object.entries(body).flatMap(([key, value]) =>
    typeof value === "string" ? (/password|secret|token/i.test(key) ? [value] : []) : secretsIn(value),
  );
}
