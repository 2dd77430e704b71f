/** @module Puts what the field table says of a field into words, for `explain` and for the hovers of editors. */
import { type FieldSchema, parameterOf } from "../../model/field-schema.ts";
import type { Json } from "../../model/json.ts";

/** Facts as names and values, in the order in which they are shown. */
export type Facts = readonly (readonly [string, Json])[];

/** Every fact about a field that no profile changes. */
export function fieldFacts(row: FieldSchema): Facts {
  const facts: readonly (readonly [string, Json | undefined])[] = [
    ["description", row.description],
    ["type", [row.type ?? "any"].flat().join(" or ")],
    ["allowed", row.enum],
    ["bounds", boundsOf(row)],
    ["pattern", row.pattern],
    ["default", row.default],
    ["tiers", row["x-tiers"] ?? "all"],
    ["components", row["x-components"]],
    ["change", changeOf(row)],
    ["disruption", row["x-create-only"] === true ? "data-loss" : (row["x-disruption"] ?? "none")],
    ["secret", row["x-secret"]],
    ["names", row["x-reference"] === undefined ? undefined : `a name under ${row["x-reference"].section}`],
    ["parameter", parameterOf(row)],
  ];
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

/** Bounds of a number or of the length of a text, in words. */
export function boundsOf({ minimum, maximum, minLength, maxLength }: FieldSchema): string | undefined {
  if (minimum !== undefined || maximum !== undefined) return `${minimum ?? "any"} to ${maximum ?? "any"}`;
  if (maxLength !== undefined) return `${minLength ?? 0} to ${maxLength} characters`;
  return minLength === undefined
    ? undefined
    : `at least ${minLength} ${minLength === 1 ? "character" : "characters"}`;
}

/** The description of a field for an editor: a paragraph, and a line for each fact that an editor does not show by itself. */
export function hoverOf(row: FieldSchema): string {
  const shownAnyway = ["description", "type", "allowed", "pattern", "secret"];
  const facts = fieldFacts(row).filter(([name]) => !shownAnyway.includes(name));
  const lines = facts.map(([name, value]) => `- ${name}: ${[value].flat().join(", ")}`);
  return [row.description ?? "", lines.join("\n")].join("\n\n").trim();
}

function changeOf(row: FieldSchema): string {
  if (row["x-create-only"] === true) return "fixed at creation: a change needs a new object";
  const operations = row["x-operations"];
  return operations === undefined
    ? "in place"
    : `by operations: ${[...new Set(Object.values(operations))].join(", ")}`;
}
