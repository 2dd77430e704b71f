import type { Json } from "../model/json.ts";
import { isObject, stableJson } from "../model/json.ts";
import { holdsSecret, isReference, isTemplate } from "../model/sealed.ts";
import { escapeText, quoteText } from "./escape.ts";

/** Stands for a secret in every report. */
export const sensitive = "(sensitive)";

/** Stands for a value that an output will have once it is there. */
export const knownAfterApply = "(known after apply)";

/**
 * One value for people, on one line: text in quotation marks, a secret as `(sensitive)`, a value that is one output
 * as `(known after apply)`, a longer expression as it is written.
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

/** Lists and maps with every expression inside as its text. */
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
