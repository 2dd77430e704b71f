/** @module Finds the credentials that people write into addresses and connection strings, and masks them. */
import { mask } from "./mask.ts";

/** A part of a text, by its offsets. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Begins an address: two slashes, or one of the schemes that are mistyped with fewer. */
const begin = /\/\/|\b(?:https?|s3|postgres(?:ql)?|rediss?|falkors?):/i;

/** Begins the value of a parameter that only credentials have, in a query or between the words of a connection string. */
const parameter =
  /(?:pass|pwd|token|secret|signature|credential|sig|api_?key|access_?key)[a-z]{0,8}\s{0,9}=/i;

/** Begins the value of a parameter that is a key in an address, and may be a word of its own elsewhere. */
const keyParameter = /[?&;]key=/i;

/** True for a text that is an address as a whole, however it is mistyped. */
const wholeAddress = /^\s{0,9}[a-z][a-z0-9+.-]{0,20}:?\//i;

/** True for a text that holds credentials, or may: everything before the last `@` of an address, and the value of `password=`. */
export function holdsLogin(text: string): boolean {
  return hiddenIn(text).length > 0;
}

/** The text of one value with its credentials masked: `postgres://***@h/d`, `h password=***`. */
export function withoutLogin(text: string): string {
  let shown = "";
  let at = 0;
  for (const { from, to } of hiddenIn(text)) {
    shown += text.slice(at, from) + mask;
    at = to;
  }
  return shown + text.slice(at);
}

/** The credentials in one value, for a masker: whole, the password alone, decoded, and in words where several lines may hold it. */
export function loginsIn(text: string): readonly string[] {
  const isAddress = wholeAddress.test(text);
  const found = hiddenIn(text).flatMap(({ from, to }) => {
    const login = text.slice(from, to);
    const colon = login.indexOf(":");
    const parts = [login, login.slice(colon + 1)];
    const words = isAddress ? login.slice(colon + 1).split(/\s+/) : [];
    const unquoted = parts.map((part) => part.replace(/^["']|["']$/g, ""));
    return [...parts, ...unquoted, ...words, ...parts.flatMap(decoded)];
  });
  return [...new Set(found)].filter((part) => part.trim() !== "");
}

/** The parts that are hidden, in order. A parameter's value lasts to the end: where it ends, nobody can know. */
function hiddenIn(text: string): readonly Span[] {
  const login = loginOf(text);
  const value = parameterOf(text);
  if (login === undefined) return value === undefined ? [] : [value];
  if (value === undefined) return [login];
  return value.from <= login.to ? [{ from: Math.min(login.from, value.from), to: value.to }] : [login, value];
}

function loginOf(text: string): Span | undefined {
  const to = text.lastIndexOf("@");
  if (to < 0) return undefined;
  const found = begin.exec(text.slice(0, to));
  if (found === null) return undefined;
  let from = found.index + found[0].length;
  while (text[from] === "/") from += 1;
  return from < to ? { from, to } : undefined;
}

function parameterOf(text: string): Span | undefined {
  const starts = [parameter, keyParameter].flatMap((pattern) => {
    const found = pattern.exec(text);
    return found === null ? [] : [found.index + found[0].length];
  });
  const from = Math.min(...starts);
  return from < text.length ? { from, to: text.length } : undefined;
}

function decoded(part: string): readonly string[] {
  try {
    const plain = decodeURIComponent(part);
    return plain === part ? [] : [plain];
  } catch {
    return [];
  }
}
