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

function* leafRows(
  properties: { readonly [name: string]: FieldSchema },
  prefix: string,
): Generator<[string, FieldSchema]> {
  for (const [name, row] of Object.entries(properties)) {
    if (row.properties === undefined) yield [`${prefix}${name}`, row];
    else yield* leafRows(row.properties, `${prefix}${name}.`);
  }
}
