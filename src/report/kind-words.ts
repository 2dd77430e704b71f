/** @module Provides the names and secret fields of each kind for reports. */
import type { FieldSchema } from "../model/field-schema.ts";
import type { Kind } from "../model/kind.ts";

/** The part of a kind that reports use: its names and its schema. */
export type KindWords = Pick<Kind, "name" | "noun" | "type" | "schema">;

/** The words of each kind, by section of the manifest. */
export interface KindNames {
  readonly [section: string]: KindWords;
}

/** Indexes kinds by section. */
export function kindNames(kinds: readonly KindWords[]): KindNames {
  return Object.fromEntries(
    kinds.map(({ name, noun, type, schema }) => [name, { name, noun, type, schema }]),
  );
}

/** Resource type in JSON reports; an unknown section gives `graphform_SECTION`. */
export function typeOf(kind: string, names: KindNames): string {
  return wordsOf(kind, names)?.type ?? `graphform_${kind}`;
}

/** The row of the field at a dotted path, or of the secret field above it. */
export function rowAt(kind: string, path: string, names: KindNames): FieldSchema | undefined {
  let row: FieldSchema | undefined = wordsOf(kind, names)?.schema;
  for (const key of path.split(".")) {
    const rows: FieldSchema["properties"] = row?.properties;
    row = rows !== undefined && Object.hasOwn(rows, key) ? rows[key] : undefined;
    if (row?.["x-secret"] === true) return row;
  }
  return row;
}

function wordsOf(kind: string, names: KindNames): KindWords | undefined {
  return Object.hasOwn(names, kind) ? names[kind] : undefined;
}
