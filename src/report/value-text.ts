/** @module Formats one value as text. */
import type { Json } from "../model/json.ts";
import { isObject, stableJson } from "../model/json.ts";
import { holdsSecret, isReference, isTemplate } from "../model/sealed.ts";
import { escapeText, quoteText } from "./escape.ts";

/** Replaces a secret in every report. */
export const sensitive = "(sensitive)";

/** Replaces a value that is an output of a resource not created yet. */
export const knownAfterApply = "(known after apply)";

/**
 * One value on one line: text in quotes, a secret as `(sensitive)`, a reference as `(known after apply)`, and a longer
 * expression as it is written in the manifest.
 */
export function valueText(value: Json, secret: boolean): string {
  if (secret || holdsSecret(value)) return sensitive;
  if (isReference(value)) return knownAfterApply;
  if (isTemplate(value)) {
    const [only] = value.$template;
    if (value.$template.length <= 1 && typeof only !== "string") return knownAfterApply;
    return quoteText(expressionOf(value));
  }
  if (typeof value === "string") return quoteText(value);
  return typeof value === "object" ? escapeText(stableJson(asWritten(value)), 240) : String(value);
}

/** Replaces every expression in lists and maps by its text. */
function asWritten(value: Json): Json {
  if (isTemplate(value) || isReference(value)) return expressionOf(value);
  if (Array.isArray(value)) return value.map(asWritten);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, asWritten(inner)]));
}

function expressionOf(value: Json): string {
  if (isReference(value)) return `\${${value.$ref}}`;
  if (!isTemplate(value)) return String(value);
  return value.$template.map(expressionOf).join("");
}
