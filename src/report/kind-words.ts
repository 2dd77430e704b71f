import type { FieldSchema } from "../model/field-schema.ts";
import type { Kind } from "../model/kind.ts";

/** What a report needs to know of a kind: how it is called, and which of its fields are secret. */
export type KindWords = Pick<Kind, "name" | "noun" | "type" | "schema">;

/** The words of every kind, by section of the manifest. */
export interface KindNames {
  readonly [section: string]: KindWords;
}

/** Words by section, out of a list of kinds. */
export function kindNames(kinds: readonly KindWords[]): KindNames {
  return Object.fromEntries(
    kinds.map(({ name, noun, type, schema }) => [name, { name, noun, type, schema }]),
  );
}

/** Type in machine-readable reports; a section that nobody knows gets one of its own. */
export function typeOf(kind: string, names: KindNames): string {
  return wordsOf(kind, names)?.type ?? `graphform_${kind}`;
}

/** True where the field table calls the field at this dotted path, or anything above it, secret. */
export function isSecretPath(kind: string, path: string, names: KindNames): boolean {
  let row: FieldSchema | undefined = wordsOf(kind, names)?.schema;
  for (const key of path.split(".")) {
    const rows: FieldSchema["properties"] = row?.properties;
    row = rows !== undefined && Object.hasOwn(rows, key) ? rows[key] : undefined;
    if (row?.["x-secret"] === true) return true;
  }
  return false;
}

function wordsOf(kind: string, names: KindNames): KindWords | undefined {
  return Object.hasOwn(names, kind) ? names[kind] : undefined;
}
