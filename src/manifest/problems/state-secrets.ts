/** @module Finds the credentials in a manifest's `state` section, and leaves them out of what is shown of it. */
import { isMap, isScalar, type ParsedNode } from "yaml";
import type { Json } from "../../model/json.ts";
import { isObject } from "../../model/json.ts";
import { anyLoginIn, loginsIn, namesCredential, type Span, withoutAnyLogin } from "../../model/login.ts";
import { mask } from "../../model/mask.ts";
import { stateShape } from "../schema/state-shape.ts";
import type { Layer } from "../source.ts";

/** Keys that people write credentials under. */
const credentialKey =
  /^(?:user|username|pass|passwd|headers?|profile|conn_?str|connection_?string|url|dsn)$/i;

/** True for a key of the `state` section that only credentials have: its value must not be shown. */
export function holdsCredential(key: string): boolean {
  return !isStoreKey(key) && (credentialKey.test(key) || namesCredential(key));
}

/** True for a key of a store: every other one may have a credential as its value. */
function isStoreKey(key: string): boolean {
  return Object.hasOwn(stateShape.properties ?? {}, key);
}

/** A section without the credentials in it, for messages: the values of foreign keys, and everything before an `@`. */
export function shownState(section: Json): Json {
  if (typeof section === "string") return withoutAnyLogin(section);
  if (!isObject(section)) return section;
  const entries = Object.entries(section).map(([key, value]): readonly [string, Json] => {
    if (typeof value !== "string") return [key, value];
    return [key, isStoreKey(key) ? withoutAnyLogin(value) : mask];
  });
  return Object.fromEntries(entries);
}

/** The texts of a section that no message may show. */
export function stateSecrets(section: Json): readonly string[] {
  if (typeof section === "string") return secretsIn(section);
  if (!isObject(section)) return textsOf(section);
  return Object.entries(section).flatMap(([key, value]) => [
    ...loginsIn(key),
    ...(typeof value === "string" && isStoreKey(key) ? secretsIn(value) : textsOf(value)),
  ]);
}

/** A path may have an `@` by right: without a colon before it, it is no login. */
function secretsIn(value: string): readonly string[] {
  const login = value.slice(0, Math.max(0, value.lastIndexOf("@")));
  const colon = login.indexOf(":");
  return colon < 0 ? loginsIn(value) : [login, login.slice(colon + 1), ...loginsIn(value)];
}

function textsOf(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return isObject(value)
    ? Object.entries(value).flatMap(([key, inner]) => [...loginsIn(key), ...textsOf(inner)])
    : [];
}

/** The text of a file with the credentials of its `state` section as NUL characters. */
export function withoutStateSecrets({ root, text, aliases }: Layer): string {
  if (!isMap<ParsedNode, ParsedNode | null>(root)) return text;
  const through = (node: ParsedNode | null): ParsedNode | null =>
    node === null ? null : (aliases.get(node) ?? node);
  const hidden: Span[] = [];
  const hide = (node: ParsedNode | null): void => {
    if (node !== null) hidden.push({ from: node.range[0], to: node.range[1] });
  };
  const hideLogin = (node: ParsedNode | null): void => {
    if (!isScalar(node) || typeof node.value !== "string") return;
    const { range } = node;
    const quote = /^["']/.test(text.slice(range[0], range[0] + 1)) ? 1 : 0;
    const start = range[0] + quote;
    const found = anyLoginIn(text.slice(start, range[1] - quote));
    if (found.length === 0 && anyLoginIn(node.value).length > 0) hide(node);
    else hidden.push(...found.map(({ from, to }) => ({ from: start + from, to: start + to })));
  };
  for (const { key, value } of root.items) {
    if (!isScalar(key) || key.value !== "state") continue;
    const section = through(value);
    if (!isMap<ParsedNode, ParsedNode | null>(section)) {
      if (isScalar(section)) hideLogin(section);
      else hide(section);
      continue;
    }
    for (const item of section.items) {
      hideLogin(item.key);
      const inner = through(item.value);
      if (isScalar(inner) && isScalar(item.key) && isStoreKey(String(item.key.value))) hideLogin(inner);
      else hide(inner);
    }
  }
  let shown = "";
  let at = 0;
  for (const { from, to } of hidden.toSorted((left, right) => left.from - right.from)) {
    if (to <= at) continue;
    shown += text.slice(at, from) + text.slice(Math.max(at, from), to).replace(/[^\r\n]/g, "\0");
    at = to;
  }
  return shown + text.slice(at);
}
