/** @module Finds the login in an address: what the URL parser calls userinfo. */
import type { Json } from "./json.ts";
import { sensitive } from "./sealed.ts";

/** The scheme of an address with its slashes; `jdbc:` and its like may stand before it. */
const scheme = /^\s*(?:[a-z][a-z0-9+.-]*:)*?([a-z][a-z0-9+.-]*:[/\\]*)(?![a-z][a-z0-9+.-]*:[/\\]{2})/i;

/** The offsets of the userinfo of a text that is an address as a whole; undefined if it is none, or has no login. */
function userinfoOf(text: string): readonly [from: number, to: number] | undefined {
  const found = text.includes("@") ? scheme.exec(text) : null;
  if (found === null) return undefined;
  const from = found[0].length;
  const url = URL.parse(text.slice(from - (found[1]?.length ?? 0)));
  if (url === null ? !/[/\\]$/.test(found[0]) : url.username === "" && url.password === "") return undefined;
  // The parser refuses a password with a raw slash, and a list of hosts: then the login ends at the last @ of the word.
  const end = text.slice(from).search(url === null ? /\s|$/ : /[/?#\\]|$/);
  const to = text.slice(0, from + end).lastIndexOf("@");
  // White space before the @ makes it prose: "https://wiki: ask dba@example.com".
  return to <= from || /\s/.test(text.slice(from, to)) ? undefined : [from, to];
}

/** A text with the userinfo of its address as `(sensitive)`, if it is an address as a whole. Prose is not searched. */
export function withoutUserinfo(text: string): string {
  const [from, to] = userinfoOf(text) ?? [0, 0];
  return to === 0 ? text : text.slice(0, from) + sensitive + text.slice(to);
}

/** True for a text that is an address with a password, or with a token as its user. */
export function hasUserinfo(text: string): boolean {
  return userinfoOf(text) !== undefined;
}

/** True for an address with a password in it; one that only an expression fills in is none. */
export function hasPassword(text: string): boolean {
  const login = userinfoOf(text);
  return login !== undefined && /:(?!\$\{[^}]*\}$)./.test(text.slice(...login));
}

/** The logins in the addresses of a value: each as it stands, its password, and both decoded. A bare user is no secret. */
export function loginsIn(value: Json): readonly string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(loginsIn);
  const [from, to] = (typeof value === "string" ? userinfoOf(value) : undefined) ?? [0, 0];
  if (typeof value !== "string" || to === 0) return [];
  const login = value.slice(from, to);
  const colon = login.indexOf(":");
  const parts = colon < 0 && login.length < 6 ? [] : [login, login.slice(colon + 1)];
  return [...parts, ...parts.map(decoded)].filter((part) => part !== "");
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Matches what only a login or a parameter with its value needs: a word without any of it holds none. */
const signs = /[@=]|%(?:25)*(?:40|3d)|\/\/[^/]*:[^/\d${]/i;

/** True for a text in which a login may stand, however mistyped its address is. */
export function mayHoldLogin(text: string): boolean {
  return signs.test(text);
}

/** A text that is meant as an address, for the message that refuses it. */
export function redactedAddress(text: string): string {
  return mayHoldLogin(text) ? sensitive : text;
}

/** Names that only credentials have, wherever they stand. */
const credentialName =
  /pass?w|^(?:pw|pwd|token|bearer|secret|access_?key(?:_?id)?|secret_?(?:access_?)?key|(?:session|auth|access|private|job)_?token|api_?key|credentials?)$/i;

/** True for an address with a login, or with a parameter that only credentials have. */
export function holdsCredentials(address: string): boolean {
  const { searchParams } = URL.parse(address) ?? {};
  return hasUserinfo(address) || [...(searchParams?.keys() ?? [])].some(namesCredential);
}

/** True for a key whose value no text may show. */
export function namesCredential(key: string): boolean {
  return credentialName.test(key);
}
