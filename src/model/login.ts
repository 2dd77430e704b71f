/** @module Finds the credentials that people write into addresses and connection strings, and masks them. */

import { mask } from "./mask.ts";

/** A part of a text, by its offsets. */
export interface Span {
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

/** Begins an address in the query of another, its signs percent-encoded or not. */
const innerBegin = /(?::|%(?:25){0,3}3a)(?:\/|%(?:25){0,3}2f){2}/i;

/** The user, password and host of an address that has no `@`, as far as they can be told from what follows. */
const authority = /:\/\/([^/\s"'?#]*)/g;

/** True for what may stand behind the colon of a host: a port or a reference, and punctuation. */
const portLike = /^(?:\d{0,5}[.;:)\]}>`]{0,3}$|\$\{)/;

/** Names that only credentials have, wherever they stand. */
const credentialName =
  /pass?w|^(?:pw|pwd|token|bearer|secret|access_?key(?:_?id)?|secret_?(?:access_?)?key|(?:session|auth|access|private|job)_?token|api_?key|credentials?)$/i;

/** True for a key whose value no text may show. */
export function namesCredential(key: string): boolean {
  return credentialName.test(key);
}

/**
 * The text of one value of which nobody knows whether it is an address: everything before its last `@` is masked, with or
 * without a scheme.
 */
export function withoutAnyLogin(text: string): string {
  return masked(text, anyLoginIn(text));
}

/** The parts that `withoutAnyLogin` masks. */
export function anyLoginIn(text: string): readonly Span[] {
  const to = text.lastIndexOf("@");
  const hidden = hiddenIn(text);
  if (to <= 0) return hidden;
  const from = /^[a-z][a-z0-9+.-]{0,20}:\/\/\/?/i.exec(text)?.[0].length ?? 0;
  return joined([...(from < to ? [{ from, to }] : []), ...hidden]);
}

/** True for a text that holds credentials, or may: everything before the last `@` of an address, and the value of `password=`. */
export function holdsLogin(text: string): boolean {
  return hiddenIn(text).length > 0;
}

/** The text of one value with its credentials masked: `postgres://***@h/d`, `h password=***`. */
export function withoutLogin(text: string): string {
  return masked(text, hiddenIn(text));
}

function masked(text: string, hidden: readonly Span[]): string {
  let shown = "";
  let at = 0;
  for (const { from, to } of hidden) {
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
  const found = [loginOf(text), parameterOf(text), innerLoginOf(text), bareLoginOf(text)];
  return joined(found.filter((span) => span !== undefined));
}

/** Spans in order, those that touch as one. */
function joined(spans: readonly Span[]): readonly Span[] {
  const all: Span[] = [];
  for (const span of spans.toSorted((left, right) => left.from - right.from)) {
    const last = all.at(-1);
    if (last === undefined || span.from > last.to) all.push(span);
    else all[all.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
  }
  return all;
}

/** The login of an address inside the query of another, or of one that is percent-encoded as a whole. */
function innerLoginOf(text: string): Span | undefined {
  const query = text.indexOf("?") + 1;
  const found = innerBegin.exec(text.slice(query));
  if (found === null || (query === 0 && !found[0].includes("%"))) return undefined;
  const from = query + found.index + found[0].length;
  const ends = [...text.slice(from).matchAll(/@|%(?:25){0,3}40/gi)];
  const to = from + (ends.at(-1)?.index ?? 0);
  return from < to ? { from, to } : undefined;
}

/** User and password of an address without `@`: behind the colon is no port. Where they end, nobody can know. */
function bareLoginOf(text: string): Span | undefined {
  if (text.includes("@")) return undefined;
  for (const { index, 1: place = "" } of text.matchAll(authority)) {
    const hosts = place.replace(/^\[[0-9a-f:.]{0,45}\]/i, "").split(",");
    const isPlain = hosts.every(
      (host) => !host.includes(":") || portLike.test(host.slice(host.indexOf(":") + 1)),
    );
    if (!isPlain) return { from: index + 3, to: text.length };
  }
  return undefined;
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
