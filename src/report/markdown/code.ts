/** @module Writes code in Markdown that no text can end. */
import { escapeText } from "../escape.ts";

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

/** Length of the longest run of backticks. */
export function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}
