/** @module Prints JSON in a stable and safe form. */
import type { Json } from "../model/json.ts";
import { stableJson } from "../model/json.ts";
import { escapeJson } from "./escape.ts";

/** JSON with sorted keys, so that equal values are equal bytes; control characters are escaped. */
export function jsonText(value: Json, indent = 0): string {
  return escapeJson(stableJson(value, indent));
}
