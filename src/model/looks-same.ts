/** @module Compares two values whatever their type and spelling. */
import type { Json } from "./json.ts";
import { parseSize } from "./quantity.ts";

/** True where two values mean the same: "25" and 25, "true" and true, 6GB and 6144MB. */
export function looksSame(left: Json, right: Json): boolean {
  if (typeof left === "object" || typeof right === "object") return false;
  const [one, other] = [String(left), String(right)];
  const size = parseSize(one);
  return one === other || (size !== undefined && size === parseSize(other));
}
