/** @module Reads the cookies of an answer. */
import { parseSetCookie } from "set-cookie-parser";

/** A cookie as Set-Cookie brings it. */
export interface Cookie {
  readonly value: string;
  /** In ms; absent where the cookie has no Max-Age. */
  readonly maxAge?: number;
}

/**
 * Returns the cookies of an answer by name, their values as they are sent but for quotes around them. Skips entries that
 * are not name=value, and cookies that are deleted (no value, or a Max-Age of 0).
 */
export function parseCookies(header: string | readonly string[] | undefined): ReadonlyMap<string, Cookie> {
  const lines = header === undefined ? [] : typeof header === "string" ? [header] : [...header];
  // Silent: it would print the names and attributes that it does not know.
  const cookies = parseSetCookie(lines, { decodeValues: false, silent: true });
  return new Map(
    cookies.flatMap(({ name, value, maxAge }): [string, Cookie][] => {
      const text = value.replace(/^"(.*)"$/, "$1");
      if (name === "" || text === "" || (maxAge !== undefined && maxAge <= 0)) return [];
      return [[name, maxAge === undefined ? { value: text } : { value: text, maxAge: maxAge * 1000 }]];
    }),
  );
}
