/** @module Formats rows of text as a table. */
import { escapeText } from "../report/escape.ts";
import type { Palette } from "../report/palette.ts";
import { padTo, textWidth } from "../report/text-width.ts";

/** Rows under a heading, columns aligned, every cell escaped; the last column is not filled. Ends with a line break. */
export function tableText(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  palette: Palette,
): string {
  const cells = rows.map((row) => row.map((cell) => escapeText(cell, 120)));
  const widths = heading.map((title, at) =>
    Math.max(textWidth(title), ...cells.map((row) => textWidth(row[at] ?? ""))),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => padTo(cell, widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  return [palette.bold(line(heading)), ...cells.map(line)].map((text) => `${text}\n`).join("");
}
