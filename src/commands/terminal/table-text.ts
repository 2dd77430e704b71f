/** @module Formats rows of text as a table. */
import { escapeText, makePalette, padTo, textWidth, wrapIndented } from "../../report/typeset.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Rows under a heading, columns aligned, every cell escaped; the last column is not filled. On a terminal that is too narrow the last
 * column goes on below itself, and a row whose other cells leave no room for it begins it on the next line. Ends with a line break.
 */
export function tableText(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  { colour, columns }: Pick<Terminal, "colour" | "columns">,
): string {
  const last = heading.length - 1;
  const cells = rows.map((row) => row.map((cell, at) => escapeText(cell, at === last ? 400 : 120)));
  const widths = heading.map((title, at) =>
    Math.max(textWidth(title), ...cells.map((row) => textWidth(row[at] ?? ""))),
  );
  const natural = widths.slice(0, last).reduce((sum, width) => sum + width + 2, 0);
  const start = columns === undefined || columns - natural >= roomForLast ? natural : Math.floor(columns / 2);
  const lines = (row: readonly string[]): readonly string[] => {
    const before = row
      .slice(0, last)
      .map((cell, at) => `${padTo(cell, widths[at] ?? 0)}  `)
      .join("");
    const head = textWidth(before.trimEnd()) + 2 > start ? undefined : padTo(before.trimEnd(), start);
    const text = row[last] ?? "";
    const [first = "", ...rest] =
      columns === undefined ? [text] : wrapIndented("", brokenPath(text, columns - start), columns - start);
    const below = rest.map((line) => " ".repeat(start) + line);
    const all = head === undefined ? [before, " ".repeat(start) + first] : [head + first];
    return [...all, ...below].map((line) => line.trimEnd());
  };
  const { bold } = makePalette(colour);
  return [...lines(heading).map(bold), ...cells.flatMap(lines)].map((text) => `${text}\n`).join("");
}

/** Columns that the last column gets before rows are broken in two. */
const roomForLast = 20;

/** A path that is too long for a line, with spaces behind slashes: it may be broken there. */
function brokenPath(text: string, width: number): string {
  const parts: string[] = [];
  let part = "";
  for (const piece of text.split(/(?<=\/)/)) {
    if (part !== "" && !part.includes(" ") && textWidth(part + piece) > width) {
      parts.push(part);
      part = "";
    }
    part += piece;
  }
  return [...parts, part].join(" ");
}
