/** @module Makes the marker by which a comment with a report is found again. */

/** Longest name in a marker, in characters. */
const longest = 200;

/**
 * The first line of a report: an HTML comment that nobody sees. A pipeline finds its earlier comment by it and updates that one. The name is
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
