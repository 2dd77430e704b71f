/** @module Parses Set-Cookie headers. */
/** A cookie as Set-Cookie brings it. */
export interface Cookie {
  readonly value: string;
  /** In ms; absent where the cookie has no Max-Age. */
  readonly maxAge?: number;
}

/**
 * Returns the cookies of an answer by name. Skips entries that are not name=value, and cookies that are deleted (no value,
 * or a Max-Age of 0).
 */
export function parseCookies(header: string | readonly string[] | undefined): ReadonlyMap<string, Cookie> {
  const lines = header === undefined ? [] : typeof header === "string" ? [header] : header;
  return new Map(lines.flatMap(parseCookie));
}

function parseCookie(line: string): [string, Cookie][] {
  const [pair = "", ...attributes] = line.split(";");
  const at = pair.indexOf("=");
  const value = pair
    .slice(at + 1)
    .trim()
    .replace(/^"(.*)"$/, "$1");
  if (at < 1 || value === "") return [];
  const seconds = attributes.flatMap(
    (attribute) => /^\s*max-age\s*=\s*(-?\d+)\s*$/i.exec(attribute)?.[1] ?? [],
  )[0];
  if (seconds === undefined) return [[pair.slice(0, at).trim(), { value }]];
  return Number(seconds) <= 0 ? [] : [[pair.slice(0, at).trim(), { value, maxAge: Number(seconds) * 1000 }]];
}
