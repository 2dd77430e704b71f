/** @module Spells equal values equally, so that they compare equal. */
import type { Json } from "../model/json.ts";
import { isObject, stableJson } from "../model/json.ts";
import { own } from "../model/own.ts";
import { parseSize } from "../model/quantity.ts";
import type { Trait } from "./traits.ts";

/** One spelling for all spellings of a value, so that equal values compare equal ("25" and 25, 6GB and 6144MB). */
export function canonical(value: Json, trait: Trait): Json {
  if (typeof value === "object" && value !== null) return stableJson(value);
  switch (trait.compare) {
    case "size":
      return parseSize(String(value)) ?? value;
    case "memory-label":
      return own(memoryLabels, String(value)) ?? value;
    case "acl":
      return canonicalRules(String(value));
    default:
      return asTyped(value, trait.type);
  }
}

/** True where both mean the same. */
export function sameValue(left: Json, right: Json, trait: Trait): boolean {
  return canonical(left, trait) === canonical(right, trait);
}

/** The label and the amount of one size of a Startup database. */
const memoryLabels: { readonly [label: string]: string } = { "1GB": "1200M", "2GB": "2200M" };

function asTyped(value: Json, type: Trait["type"]): Json {
  if (value === null || isObject(value)) return value;
  if ((type === "integer" || type === "number") && typeof value === "string" && value.trim() !== "") {
    const number = Number(value);
    return Number.isNaN(number) ? value : number;
  }
  if (type === "boolean" && typeof value === "string") {
    const lower = value.toLowerCase();
    return lower === "true" ? true : lower === "false" ? false : value;
  }
  return type === "string" ? String(value) : value;
}

/**
 * Access rules by meaning: white space and the case of commands do not count. The order counts only where a
 * rule takes something away, since later rules win.
 */
function canonicalRules(text: string): string {
  const tokens = text
    .split(/\s+/)
    .filter((token) => token !== "")
    .map((token) => (/^[+-]/.test(token) ? token.toUpperCase() : token));
  const onlyGrants = tokens.every((token) => /^[+~&%]/.test(token));
  return (onlyGrants ? [...new Set(tokens)].sort() : tokens).join(" ");
}
