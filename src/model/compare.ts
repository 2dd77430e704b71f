/** @module Compares two values of a field, whatever their spellings: the only equality of planning and of apply. */
import deepDiff from "deep-diff";
import type { FieldSchema } from "./field-schema.ts";
import { type Json, own } from "./json.ts";
import { parseSize } from "./quantity.ts";

/** The part of a field that decides how its values are compared. */
export type Comparison = Pick<FieldSchema, "type" | "x-compare">;

/** True if two values of a field mean the same: "25" and 25 of a number, 6GB and 6144MB of a size. */
export function sameValue(left: Json, right: Json, field: Comparison): boolean {
  if (left === right) return true;
  if (isCompound(left) || isCompound(right)) return sameJson(left, right);
  return canonical(left, field) === canonical(right, field);
}

/** True if two values are the same data, whatever the order of their keys. */
export function sameJson(left: Json, right: Json): boolean {
  if (left === right) return true;
  return isCompound(left) && isCompound(right) && deepDiff.diff(left, right) === undefined;
}

function isCompound(value: Json): boolean {
  return typeof value === "object" && value !== null;
}

function canonical(value: Json, { type, "x-compare": compare }: Comparison): Json {
  switch (compare) {
    case "size":
      return parseSize(String(value)) ?? value;
    case "memory-label":
      return own(memoryLabels, String(value)) ?? value;
    case "acl":
      return canonicalRules(String(value));
    default:
      return asTyped(value, type);
  }
}

/** The label and the amount of one size of a Startup database. */
const memoryLabels: { readonly [label: string]: string } = { "1GB": "1200M", "2GB": "2200M" };

/** A value in the type of its field: "25" as 25 of a number. A field without one type takes any: its text counts. */
export function asTyped(value: Json, type: FieldSchema["type"]): Json {
  if (value === null) return value;
  if ((type === "integer" || type === "number") && typeof value === "string" && value.trim() !== "") {
    const number = Number(value);
    return Number.isNaN(number) ? value : number;
  }
  if (type === "boolean" && typeof value === "string") {
    const lower = value.toLowerCase();
    return lower === "true" ? true : lower === "false" ? false : value;
  }
  return type === "string" || type === undefined ? String(value) : value;
}

/** Access rules without white space and the case of commands. Their order counts only if one takes something away: later rules win. */
function canonicalRules(text: string): string {
  const tokens = text
    .split(/\s+/)
    .filter((token) => token !== "")
    .map((token) => (/^[+-]/.test(token) ? token.toUpperCase() : token));
  const onlyGrants = tokens.every((token) => /^[+~&%]/.test(token));
  return (onlyGrants ? [...new Set(tokens)].sort() : tokens).join(" ");
}
