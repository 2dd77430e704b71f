/** @module Lists the reference fields of a kind. */
import type { FieldSchema, KindSchema } from "./field-schema.ts";

/** A field whose value names a resource of a section; the wire has an output of that resource instead. */
export interface ReferenceField {
  readonly path: string;
  readonly section: string;
  readonly output: string;
  /** True where the resource is found through it. */
  readonly place: boolean;
}

const known = new WeakMap<KindSchema, readonly ReferenceField[]>();

/** The reference fields of a kind, in the order of its table. */
export function referenceFields(schema: KindSchema): readonly ReferenceField[] {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const found = collect(schema.properties, "");
  known.set(schema, found);
  return found;
}

function collect(
  properties: { readonly [name: string]: FieldSchema },
  prefix: string,
): readonly ReferenceField[] {
  return Object.entries(properties).flatMap(([name, row]) => {
    const path = `${prefix}${name}`;
    const reference = row["x-reference"];
    const inner = row.properties === undefined ? [] : collect(row.properties, `${path}.`);
    return reference === undefined
      ? inner
      : [{ path, ...reference, place: row["x-place"] === true }, ...inner];
  });
}
