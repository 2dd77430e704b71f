/** @module Formats recorded outputs as JSON. */
import { isObject, type Json, type JsonObject } from "../model/json.ts";
import { escapeText } from "./escape.ts";
import type { Palette } from "./palette.ts";
import type { ShownOutputs } from "./shown.ts";
import { padTo, textWidth } from "./text-width.ts";

/** Outputs in the shape of `terraform output -json`; a sensitive value is `"(sensitive)"`, whose type is `string`. */
export function outputsJson(outputs: ShownOutputs): JsonObject {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, output]): [string, Json] => {
      const value = output.value.json ?? null;
      return [name, { sensitive: output.sensitive, type: typeName(value), value }];
    }),
  );
}

/** Outputs for the event stream; a sensitive one has no value. */
export function typedOutputs(outputs: ShownOutputs): JsonObject {
  return Object.fromEntries(
    Object.entries(outputs).map(
      ([
        name,
        {
          sensitive,
          value: { json = null },
        },
      ]): [string, Json] => {
        const typed = { sensitive, type: typeName(json) };
        return [name, sensitive ? typed : { ...typed, value: json }];
      },
    ),
  );
}

/** The type of a value in Terraform's JSON notation. */
function typeName(value: Json): Json {
  if (value === null) return "dynamic";
  if (Array.isArray(value)) return ["tuple", value.map(typeName)];
  if (isObject(value))
    return [
      "object",
      Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, typeName(inner)])),
    ];
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** All outputs, one per line, sorted by name. Ends with a line break. */
export function outputsText(outputs: ShownOutputs, palette: Palette): string {
  const rows = outputRows(outputs, palette);
  return rows.length === 0 ? "No outputs are recorded.\n" : `${rows.join("\n")}\n`;
}

/** One line per output, sorted by name, values aligned. */
export function outputRows(outputs: ShownOutputs, { dim }: Palette): readonly string[] {
  const entries = Object.entries(outputs).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = entries.map(([name]) => escapeText(name, 200));
  const width = Math.max(0, ...names.map(textWidth));
  return entries.map(([, output], at) => `${padTo(names[at] ?? "", width)} ${dim("=")} ${output.value.text}`);
}
