import type { Json, JsonObject } from "./json.ts";
import { isObject } from "./json.ts";
import { isReference, isSealed, isTemplate } from "./sealed.ts";

/** A spec as dotted path -> leaf. Secrets and templates are leaves; so are lists. */
export function leaves(spec: JsonObject, prefix = ""): ReadonlyMap<string, Json> {
  const found = new Map<string, Json>();
  for (const [key, value] of Object.entries(spec)) {
    const path = prefix === "" ? key : `${prefix}.${key}`;
    if (isBranch(value)) for (const [inner, leaf] of leaves(value, path)) found.set(inner, leaf);
    else found.set(path, value);
  }
  return found;
}

/** The spec that has these leaves. */
export function fromLeaves(pairs: Iterable<readonly [string, Json]>): JsonObject {
  const root: Branch = new Map();
  for (const [path, value] of pairs) plant(root, path.split("."), value);
  return grown(root);
}

/** The value at a dotted path, or undefined. */
export function valueAt(spec: Json | undefined, path: string): Json | undefined {
  let value: Json | undefined = spec;
  for (const key of path.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

function isBranch(value: Json): value is JsonObject {
  return isObject(value) && !isSealed(value) && !isTemplate(value) && !isReference(value);
}

type Branch = Map<string, Branch | { readonly leaf: Json }>;

function plant(branch: Branch, keys: readonly string[], value: Json): void {
  const [key, ...rest] = keys;
  if (key === undefined) return;
  if (rest.length === 0) {
    branch.set(key, { leaf: value });
    return;
  }
  const existing = branch.get(key);
  const child: Branch = existing === undefined || "leaf" in existing ? new Map() : existing;
  plant(child, rest, value);
  branch.set(key, child);
}

/** Built from entries, so that a key like __proto__ is a key and nothing more. */
function grown(branch: Branch): JsonObject {
  return Object.fromEntries(
    [...branch].map(([key, inner]) => [key, "leaf" in inner ? inner.leaf : grown(inner)]),
  );
}
