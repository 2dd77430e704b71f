/** @module Formats the changed outputs of a plan as lines of text. */
import type { Json } from "../model/json.ts";
import type { OutputChange, Plan } from "../model/plan.ts";
import { escapeText } from "./escape.ts";
import { type FieldRow, fieldLines } from "./field-lines.ts";
import type { Page } from "./palette.ts";
import { knownAfterApply, valueText } from "./value-text.ts";

/** Lines of the outputs that a plan changes, sorted by name; empty if there are none. */
export function outputLines(plan: Pick<Plan, "outputs">, page: Page): readonly string[] {
  const rows = Object.entries(plan.outputs)
    .filter(([, output]) => output.action !== "no-op" || output.missing !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, output]) => outputRow(name, output));
  return rows.length === 0 ? [] : [page.palette.bold("Outputs"), "", ...fieldLines(rows, 2, page)];
}

function outputRow(name: string, output: OutputChange): FieldRow {
  const text = (value: Json | undefined): string =>
    value === undefined ? "(none)" : valueText(value, output.sensitive);
  const path = escapeText(name, 200);
  if (output.action === "delete") {
    return { mark: "-", tone: "red", path, before: text(output.before), after: "(removed)", note: "" };
  }
  if (output.missing !== undefined) {
    const after = output.before === undefined ? "(not known)" : text(output.before);
    return { mark: "!", tone: "yellow", path, after, note: escapeText(output.missing, 400) };
  }
  const unknown = output.unknown && output.after === undefined;
  const after = unknown ? knownAfterApply : text(output.after);
  if (output.action === "create") return { mark: "+", tone: "green", path, after, note: "" };
  return { mark: "~", tone: "yellow", path, before: text(output.before), after, note: "" };
}
