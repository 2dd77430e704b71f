/** @module Defines a flat spec and the only two conversions: from nested objects, and back to them. */
import { isObject, type Json, type JsonObject } from "./json.ts";
import { isReference, isSealed, isTemplate } from "./sealed.ts";

/**
 * Values by their dotted paths: `config.name` -> "orders". Lists, secrets, templates and empty groups are values; the last set nothing.
 * Nested specs stand only in YAML, on the wire and in plan files.
 */
export interface Spec<Value = Json> {
  readonly [path: string]: Value;
}

/** The leaves of nested objects, in an object of its own. */
export function flatten(nested: JsonObject): Record<string, Json> {
  const spec: Branch = {};
  const add = (group: JsonObject, prefix: string): void => {
    for (const [key, value] of Object.entries(group)) {
      if (isGroup(value)) add(value, `${prefix}${key}.`);
      else put(spec, prefix + key, value);
    }
  };
  add(nested, "");
  return spec;
}

export function nest(spec: Spec): JsonObject {
  const root: Branch = {};
  const branches = new Map<string, Branch>([["", root]]);
  for (const [path, value] of Object.entries(spec)) {
    const dot = path.lastIndexOf(".");
    put(branchAt(path.slice(0, Math.max(dot, 0)), branches), path.slice(dot + 1), value);
  }
  return root;
}

/** Every path that a spec sets, with its value. */
export function fieldsOf(spec: Spec): readonly (readonly [path: string, value: Json])[] {
  return Object.entries(spec).filter(([, value]) => !(isObject(value) && Object.keys(value).length === 0));
}

/** True if a path, or anything below it, was written. */
export function isWritten(spec: Spec, path: string): boolean {
  if (Object.hasOwn(spec, path)) return true;
  return Object.keys(spec).some((other) => other[path.length] === "." && other.startsWith(path));
}

/** The fields of one group or map of a spec, by their paths in it: `name` -> "orders". */
export function partOf(spec: Spec, group: string): Spec {
  const prefix = `${group}.`;
  const inside = Object.entries(spec).filter(([path]) => path.startsWith(prefix));
  return Object.fromEntries(inside.map(([path, value]) => [path.slice(prefix.length), value]));
}

function isGroup(value: Json): value is JsonObject {
  if (!isObject(value) || isSealed(value) || isTemplate(value) || isReference(value)) return false;
  return Object.keys(value).length > 0;
}

type Branch = Record<string, Json>;

/** The object at a dotted path, made if there is none. Replaces a leaf in its way. */
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
