/** @module Converts specs between nested objects and dotted paths. */
import type { Json, JsonObject } from "./json.ts";
import { isObject } from "./json.ts";
import { isReference, isSealed, isTemplate } from "./sealed.ts";

/** A spec as dotted path -> leaf. Secrets and templates are leaves; so are lists. */
export function leaves(spec: JsonObject, prefix = ""): ReadonlyMap<string, Json> {
  const found = new Map<string, Json>();
  gather(spec, prefix, found);
  return found;
}

function gather(spec: JsonObject, prefix: string, found: Map<string, Json>): void {
  for (const key of Object.keys(spec)) {
    const value = spec[key] ?? null;
    const path = prefix === "" ? key : `${prefix}.${key}`;
    if (isBranch(value)) gather(value, path, found);
    else found.set(path, value);
  }
}

/** The spec that has these leaves. */
export function fromLeaves(pairs: Iterable<readonly [string, Json]>): JsonObject {
  const root: Branch = {};
  const branches = new Map<string, Branch>([["", root]]);
  for (const [path, value] of pairs) {
    const dot = path.lastIndexOf(".");
    put(branchAt(path.slice(0, Math.max(dot, 0)), branches), path.slice(dot + 1), value);
  }
  return root;
}

/** The value at a dotted path, or undefined. */
export function valueAt(spec: Json | undefined, path: string): Json | undefined {
  let value: Json | undefined = spec;
  if (!path.includes(".")) return isObject(value) && Object.hasOwn(value, path) ? value[path] : undefined;
  for (const key of path.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

function isBranch(value: Json): value is JsonObject {
  return isObject(value) && !isSealed(value) && !isTemplate(value) && !isReference(value);
}

type Branch = Record<string, Json>;

/** The object at a dotted path, made where there is none. Replaces a leaf in its way. */
function branchAt(path: string, branches: Map<string, Branch>): Branch {
  const known = branches.get(path);
  if (known !== undefined) return known;
  const branch: Branch = {};
  const dot = path.lastIndexOf(".");
  put(branchAt(path.slice(0, Math.max(dot, 0)), branches), path.slice(dot + 1), branch);
  branches.set(path, branch);
  return branch;
}

/** A key like __proto__ is a key and nothing more. */
function put(branch: Branch, key: string, value: Json): void {
  if (key === "__proto__")
    Object.defineProperty(branch, key, { value, enumerable: true, configurable: true, writable: true });
  else branch[key] = value;
}
