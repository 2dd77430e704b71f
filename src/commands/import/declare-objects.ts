/** @module Converts live objects to declarations of a manifest. */
import { type FieldSchema, fieldRows, isOfferedBy } from "../../model/field-schema.ts";
import type { Json } from "../../model/json.ts";
import type { Kind } from "../../model/kind.ts";
import { naming } from "../../model/manifest.ts";
import type { Live } from "../../model/observed.ts";
import type { Spec } from "../../model/spec.ts";
import { referenceFields } from "../../model/templates.ts";
import { asTyped } from "../../model/values.ts";
import type { Found } from "./find-everything.ts";

export interface DeclaredObject {
  readonly kind: Kind;
  readonly name: string;
  readonly id: string;
  /** Values that the service shows and that are no defaults, in the order of the field table. */
  readonly spec: Spec;
  readonly notes: readonly string[];
  /** Required fields that the service does not show; with one of these the object cannot be declared. */
  readonly missing: readonly string[];
}

/** Declares live objects: unique names, references by name, without values that equal the default. */
export function declareObjects(found: readonly Found[]): readonly DeclaredObject[] {
  const names = namesOf(found);
  const withNames = naming(
    new Map(found.map((entry, at) => [`${entry.kind.name}.${names[at] ?? ""}`, entry.live.outputs])),
  );
  return found.map((entry, at) =>
    declareObject(entry, names[at] ?? "", withNames(entry.live, entry.kind.schema)),
  );
}

function declareObject({ kind, live: raw, place }: Found, name: string, live: Live): DeclaredObject {
  const offered = [...fieldRows(kind.schema)].filter(([, row]) => isOfferedBy(row, place));
  const required = new Set(kind.schema.required ?? []);
  const notes: string[] = [];
  const marks = new Set(Object.keys(kind.ownerMark({ lineage: "", address: "" })));
  const pairs = offered.flatMap(([path, row]): [string, Json][] => {
    const seen = live.spec[path];
    if (seen === undefined) return [];
    const { type } = row;
    const value =
      type === undefined || typeof seen.value === "object" ? seen.value : asTyped(seen.value, type);
    if (row["x-reference"] !== undefined && seen === raw.spec[path]) {
      notes.push(`${path}: ${String(value)} is not shown by the service`);
      return [];
    }
    if (!required.has(path) && isDefault(value, row)) return [];
    if (row.enum !== undefined && !row.enum.includes(value)) {
      notes.push(`${path}: ${String(value)}, as the service shows it`);
      return [];
    }
    return [[path, value]];
  });
  const maps = offered.filter(([, row]) => typeof row.additionalProperties === "object");
  const entries = maps.flatMap(([map]) =>
    Object.entries(live.spec).flatMap(([path, { value }]): [string, Json][] => {
      if (!path.startsWith(`${map}.`) || marks.has(path)) return [];
      const key = path.slice(map.length + 1);
      // Paths use dots, and `__proto__` is not safe as a key.
      if (key !== "" && !key.includes(".") && key !== "__proto__") return [[path, value]];
      notes.push(`${path} cannot be declared and is not changed`);
      return [];
    }),
  );
  const unseen = offered
    .filter(([path, row]) => live.spec[path] === undefined && isSetting(path, row, live))
    .map(([path]) => path.replace(/^config\./, ""));
  if (live.phase.isUnnamed === true) notes.push(`its status is ${live.phase.detail}`);
  if (unseen.length > 0) notes.push(`not shown by the service: ${unseen.join(", ")}`);
  const missing = [...required].filter(
    (path) =>
      kind.schema.properties[path]?.properties === undefined && !pairs.some(([given]) => given === path),
  );
  return { kind, name, id: live.id, spec: Object.fromEntries([...pairs, ...entries]), notes, missing };
}

/** True for a setting worth a comment: of the configuration or secret, and not of another cloud provider. */
function isSetting(path: string, row: FieldSchema, live: Live): boolean {
  const provider = /^config\.(aws|gcp|azure|oci)_/.exec(path)?.[1];
  if (provider !== undefined && provider !== live.spec["cloudProvider"]?.value) return false;
  return path.startsWith("config.") || row["x-secret"] === true;
}

function isDefault(value: Json, row: FieldSchema): boolean {
  return row.default !== undefined && String(row.default) === String(value);
}

/** Names from those of the objects, otherwise from their ids. Of two equal names the older object keeps it. */
function namesOf(found: readonly Found[]): readonly string[] {
  const taken = new Set<string>();
  const numbers = new Map<string, number>();
  const hosts = new Map<string, string>();
  return found.map(({ kind, live, place }) => {
    const host = referenceFields(kind.schema).find((field) => field.place);
    const within = host === undefined ? undefined : hosts.get(`${host.section} ${String(place[host.path])}`);
    const own = nameFrom(givenName(kind, live)) ?? nameFrom(live.id) ?? kind.noun;
    const base = within === undefined ? own : `${within}-${own}`;
    const key = `${kind.name}.${base}`;
    let name = base;
    for (let number = numbers.get(key) ?? 2; taken.has(`${kind.name}.${name}`); number += 1) {
      name = `${base}-${number}`;
      numbers.set(key, number);
    }
    taken.add(`${kind.name}.${name}`);
    hosts.set(`${kind.name} ${live.id}`, name);
    return name;
  });
}

function givenName(kind: Kind, live: Live): string {
  const names = ["config.name", "name", "username"].flatMap((path) => {
    const value = live.spec[path]?.value;
    const row = fieldRows(kind.schema).get(path);
    return typeof value !== "string" || row === undefined || isDefault(value, row) ? [] : [value];
  });
  return names[0] ?? "";
}

function nameFrom(text: string): string | undefined {
  const name = text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, "-")
    .replace(/^[-_]+/, "")
    .slice(0, 60)
    .replace(/[-_]{1,60}$/, "");
  return name === "" ? undefined : name;
}
