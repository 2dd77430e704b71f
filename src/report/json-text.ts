import type { Json } from "../model/json.ts";
import { stableJson } from "../model/json.ts";
import { escapeJson } from "./escape.ts";

/** JSON as it is printed: keys sorted, so that equal values are equal bytes, and nothing in it steers a terminal. */
export function jsonText(value: Json, indent = 0): string {
  return escapeJson(stableJson(value, indent));
}
