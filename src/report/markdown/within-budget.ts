/** @module Writes the parts of a report in Markdown: code that no text can end, the marker, and as many sections as fit into a number of bytes. */
import { escapeText } from "../typeset.ts";

export interface Part {
  readonly full: readonly string[];
  readonly short: readonly string[];
  /** Number of changes that the part is about. */
  readonly count: number;
}

/** A group of parts with the markup around them. */
export interface Section {
  /** Markup around these lines; lines without a part give markup that says what is left out. */
  readonly render: (lines: readonly string[], leftOut: number) => string;
  readonly parts: readonly Part[];
}

/** Bytes of the fence around the lines of a section, and of the empty lines around that. */
const fenceBytes = 24;

/**
 * Renders sections within a number of bytes. A part that does not fit is shortened, and left out with all that follow if that does not fit
 * either: nothing is shown while something worse is not. Each section that lacks a part says how many changes it lacks.
 */
export function withinBudget(sections: readonly Section[], budget: number): readonly string[] {
  // The bytes that each section needs if all its parts are left out.
  const floors = sections.map(
    ({ render, parts }) => Buffer.byteLength(render([], countOf(parts))) + fenceBytes,
  );
  let left = budget - floors.reduce((sum, floor) => sum + floor, 0);
  let isFull = false;
  return sections.map(({ render, parts }) => {
    const lines: string[] = [];
    let shown = 0;
    for (const part of parts) {
      const fitting = fittingIn(part, left);
      if (isFull || fitting === undefined) {
        isFull = true;
        break;
      }
      left -= costOf(fitting);
      lines.push(...fitting);
      shown += part.count;
    }
    return render(lines, countOf(parts) - shown);
  });
}

/** The longest form of a part that fits; a part without a short form has an empty one. */
function fittingIn({ full, short }: Part, bytes: number): readonly string[] | undefined {
  return [full, short].find((lines) => lines.length > 0 && costOf(lines) <= bytes);
}

function countOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { count }) => sum + count, 0);
}

/** Bytes of the lines with their line breaks, and of the fences that grow with their backticks. */
function costOf(lines: readonly string[]): number {
  const text = lines.join("\n");
  const ticks = Math.max(3, longestRun(text) + 1);
  return Buffer.byteLength(text) + 1 + 2 * (ticks - 3);
}

/** Longest name in a marker, in characters. */
const longest = 200;

/**
 * The first line of a report: an HTML comment, which is not shown. A pipeline finds its earlier comment by it and updates that one. The name is
 * percent-encoded, and holds no `--`, which would end the comment.
 */
export function marker(report: string, name: string): string {
  const encoded = encodeURIComponent([...name].slice(0, longest).join("").toWellFormed());
  return `<!-- graphform:${report} name=${encoded.replaceAll("--", "-%2D")} -->`;
}

/** A report without the marker in its first line. */
export function withoutMarker(text: string): string {
  return text.replace(/^<!-- graphform:[^\n]* -->\n+/, "");
}

/** A code span that no text can end. Control characters are visible, a long text loses its middle. */
export function codeSpan(text: string, maxLength = 300): string {
  const shown = escapeText(text, maxLength);
  if (shown.trim() === "") return "(empty)";
  const ticks = "`".repeat(longestRun(shown) + 1);
  const room = /^`|`$|^ .* $/.test(shown) ? " " : "";
  return `${ticks}${room}${shown}${room}${ticks}`;
}

/** A fenced block that no line can end. The lines have no line breaks. */
export function fence(language: string, lines: readonly string[]): string {
  const ticks = "`".repeat(Math.max(2, ...lines.map(longestRun)) + 1);
  return [`${ticks}${language}`, ...lines, ticks].join("\n");
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}
