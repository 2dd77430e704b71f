/** @module Formats recorded outputs as text. */
import { GraphformError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { stableJson } from "../model/json.ts";
import { holdsSecret } from "../model/sealed.ts";
import type { RecordedOutput } from "../model/state.ts";
import { escapeLines, escapeText } from "./escape.ts";
import { isSensitive } from "./outputs-json.ts";
import type { Palette } from "./palette.ts";
import { padTo, textWidth } from "./text-width.ts";
import { valueText } from "./value-text.ts";

type Outputs = { readonly [name: string]: RecordedOutput };

/** All outputs, one per line, sorted by name. Ends with a line break. */
export function outputsText(outputs: Outputs, palette: Palette): string {
  const rows = outputRows(outputs, palette);
  return rows.length === 0 ? "No outputs are recorded.\n" : `${rows.join("\n")}\n`;
}

/** One line per output, sorted by name, values aligned. */
export function outputRows(outputs: Outputs, { dim }: Palette): readonly string[] {
  const entries = Object.entries(outputs).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = entries.map(([name]) => escapeText(name, 200));
  const width = Math.max(0, ...names.map(textWidth));
  return entries.map(
    ([, output], at) =>
      `${padTo(names[at] ?? "", width)} ${dim("=")} ${valueText(output.value, isSensitive(output))}`,
  );
}

/**
 * One value for a script, without quotes and line break. A sensitive value is printed, because it was requested by name; a
 * secret is not, because the state has only its fingerprint.
 *
 * Throws `output-unknown`, `output-secret` and `output-not-text`.
 */
export function rawOutput(outputs: Outputs, name: string): string {
  const output = Object.hasOwn(outputs, name) ? outputs[name] : undefined;
  if (output === undefined) throw unknownOutput(name, Object.keys(outputs));
  const { value } = output;
  if (holdsSecret(value)) {
    throw new GraphformError(
      "output-secret",
      `output "${escapeText(name)}" is a secret, and secrets are not stored`,
      {
        hint: "read it from the source that the manifest names",
      },
    );
  }
  if (typeof value === "object" && value !== null) {
    throw new GraphformError(
      "output-not-text",
      `output "${escapeText(name)}" is a ${Array.isArray(value) ? "list" : "map"}`,
      {
        hint: "use --json",
      },
    );
  }
  return escapeLines(typeof value === "string" ? value : scalarText(value));
}

function scalarText(value: Json): string {
  return value === null ? "" : stableJson(value);
}

function unknownOutput(name: string, names: readonly string[]): GraphformError {
  const list = [...names].sort().map((known) => escapeText(known, 200));
  return new GraphformError("output-unknown", `there is no output "${escapeText(name, 200)}"`, {
    hint:
      list.length === 0
        ? "no outputs are recorded; declare some and apply"
        : `the outputs are ${list.join(", ")}`,
  });
}
