/** @module Finds what is wrong in a manifest's `state` section beyond its schema: contradictions and credentials. */
import { isMap, isScalar, type ParsedNode } from "yaml";
import type { Json } from "../../model/json.ts";
import { isObject } from "../../model/json.ts";
import {
  anyLoginIn,
  holdsLogin,
  loginsIn,
  namesCredential,
  type Span,
  withoutAnyLogin,
} from "../../model/login.ts";
import { mask } from "../../model/mask.ts";
import { storeRefusal } from "../../model/store-forms.ts";
import { dialectOf } from "../../model/store-url.ts";
import type { Part } from "../locate.ts";
import { type StoreType, stateShape, storeKeys, storeTypes } from "../schema/state-shape.ts";
import type { Layer, Path } from "../source.ts";
import { describe } from "./describe.ts";
import type { Fault } from "./finding.ts";
import { listed } from "./nearest.ts";

/** A fault with its place. */
export interface StateFault {
  readonly path: Path;
  readonly part: Part;
  readonly fault: Fault;
}

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

/** The faults of a section whose values are known. */
export function stateFaults(section: Json | undefined): readonly StateFault[] {
  if (!isObject(section)) return [];
  const credentials = Object.entries(section).flatMap(([key, value]): readonly StateFault[] => {
    const path = ["state", key];
    if (holdsCredential(key))
      return [{ path, part: "key", fault: inManifest(`state.${withoutAnyLogin(key)}`) }];
    if (typeof value !== "string") return [];
    if (holdsLogin(value)) return [{ path, part: "value", fault: inManifest(`state.${key}`) }];
    const refusal = storeRefusal(key, value);
    return refusal === undefined ? [] : [{ path, part: "value", fault: refusal }];
  });
  const { type, backend } = section;
  if (type !== undefined && backend !== undefined && type !== backend)
    return [
      ...credentials,
      { path: ["state", "backend"], part: "value", fault: contradiction(type, backend) },
    ];
  const chosen = type ?? backend;
  if (chosen !== undefined && !isType(chosen)) return credentials;
  return [
    ...credentials,
    ...keyFaults(section, chosen ?? "file", chosen !== undefined),
    ...(chosen === "http" ? withoutLock(section) : []),
  ];
}

/** The fault of an HTTP state that says nowhere how it is locked. */
function withoutLock({
  address,
  lockAddress,
  dialect,
}: {
  readonly [key: string]: Json;
}): readonly StateFault[] {
  const url = typeof address === "string" && !holdsLogin(address) ? URL.parse(address) : null;
  if (url === null || lockAddress !== undefined || (dialect ?? dialectOf(url)) !== "plain") return [];
  const message =
    "state.address has no address for its lock, and two runs at once would make databases twice";
  const hint =
    "add lockAddress, which may be the address itself; GitLab and Gitea need none (dialect: gitlab or gitea)";
  return [{ path: ["state", "address"], part: "value", fault: { code: "missing-key", message, hint } }];
}

function keyFaults(
  section: { readonly [key: string]: Json },
  type: StoreType,
  isSaid: boolean,
): readonly StateFault[] {
  const { keys, required } = storeKeys[type];
  const known = Object.keys(stateShape.properties ?? {});
  const misplaced = Object.keys(section).filter(
    (key) => known.includes(key) && key !== "type" && key !== "backend" && !keys.includes(key),
  );
  const missing = required.filter((key) => !Object.hasOwn(section, key));
  return [
    ...misplaced.map((key): StateFault => {
      const owner = storeTypes.find((other) => storeKeys[other].keys.includes(key)) ?? "file";
      const message = `state.${key} belongs to a state of type ${owner}, and this one ${isSaid ? `is of type ${type}` : "is a file"}`;
      const hint = isSaid ? listed(keys, `keys of ${type}`) : `add type: ${owner}`;
      return { path: ["state", key], part: "key", fault: { code: "state-key", message, hint } };
    }),
    ...missing.map((key): StateFault => {
      const description = stateShape.properties?.[key]?.description ?? key;
      const message = `"${key}" is missing in state: a state of type ${type} cannot be found without it`;
      return {
        path: ["state"],
        part: "key",
        fault: { code: "missing-key", message, hint: `add it: ${description.replace(/^\w+: /, "")}` },
      };
    }),
  ];
}

function inManifest(name: string): Fault {
  return {
    code: "state-credentials",
    message: `${name} holds credentials, and a manifest must not: it is kept in version control`,
    hint: "take them out, and set the variables of the environment that docs/stores.md lists",
  };
}

function contradiction(type: Json, backend: Json): Fault {
  return {
    code: "state-key",
    message: `state.backend is ${describe(shownState(backend))}, and state.type is ${describe(shownState(type))}: they mean the same`,
    hint: "keep type",
  };
}

function isType(value: Json): value is StoreType {
  return storeTypes.some((type) => type === value);
}
