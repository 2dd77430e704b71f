/** @module Formats recorded outputs as text. */
import { escapeText } from "./escape.ts";
import type { Palette } from "./palette.ts";
import type { ShownOutputs } from "./shown.ts";
import { padTo, textWidth } from "./text-width.ts";

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
