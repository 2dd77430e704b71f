/** @module Lists the fields of a kind by dotted path. */
import type { FieldSchema, KindSchema } from "./field-schema.ts";

const known = new WeakMap<KindSchema, ReadonlyMap<string, FieldSchema>>();

/** Every field of a kind by its dotted path, without the groups that hold them; made once for each schema. */
export function fieldRows(schema: KindSchema): ReadonlyMap<string, FieldSchema> {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const rows = new Map(leafRows(schema.properties, ""));
  known.set(schema, rows);
  return rows;
}

/** Paths in the order of the table: a tier comes before the component that it has. */
export function inTableOrder(schema: KindSchema, paths: readonly string[]): readonly string[] {
  const order = [...fieldRows(schema).keys()];
  return paths.toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
}

function* leafRows(
  properties: { readonly [name: string]: FieldSchema },
  prefix: string,
): Generator<[string, FieldSchema]> {
  for (const [name, row] of Object.entries(properties)) {
    if (row.properties === undefined) yield [`${prefix}${name}`, row];
    else yield* leafRows(row.properties, `${prefix}${name}.`);
  }
}
