/** @module Decides which creates of a class may be in flight together. Pure. */
import { type FieldSchema, fieldRows, type KindSchema, rowAt } from "../../model/field-schema.ts";
import { type Json, stableJson } from "../../model/json.ts";
import { perObject } from "../../model/once.ts";
import type { Intent } from "../../model/state.ts";
import { sameValue } from "../../model/values.ts";

type Recorded = Pick<Intent, "recorded">;

/** True if, after both answers were lost, a shown field would tell the objects apart, or an update could bring each to either spec. */
export function mayBeInFlightTogether(
  one: Recorded,
  other: Recorded,
  schema: KindSchema,
  shown: ReadonlySet<string>,
): boolean {
  return areInterchangeable(one, other, schema) || areDistinguishable(one, other, schema, shown);
}

/** True if two creates differ in nothing but fields that can be changed in place. */
export function areInterchangeable(one: Recorded, other: Recorded, schema: KindSchema): boolean {
  return one === other || fixedPart(one, schema) === fixedPart(other, schema);
}

/** A text that is equal for interchangeable creates: values that cannot be changed in place, and names of those that can but not be unset. */
export function fixedPart({ recorded }: Recorded, schema: KindSchema): string {
  return fixedParts(schema)(recorded);
}

const fixedParts = perObject((schema: KindSchema) =>
  perObject((recorded: Recorded["recorded"]) => {
    const rows = fieldRows(schema);
    const changeable = changeablePaths({ recorded }, schema);
    // Fields that an operation sets are not part of the create request.
    const fixed = Object.entries(recorded).filter(
      ([path]) => !changeable.includes(path) && rows.get(path)?.["x-operations"] === undefined,
    );
    return stableJson([Object.fromEntries(fixed), [...changeable].toSorted()]);
  }),
);

/** The fields of a create that have other values in the other creates. An update sets them if another create may have made the object. */
export function differingPaths(
  create: Recorded,
  others: readonly Recorded[],
  schema: KindSchema,
): readonly string[] {
  const rows = fieldRows(schema);
  return changeablePaths(create, schema).filter((path) =>
    others.some(
      ({ recorded }) => !sameValue(recorded[path] ?? null, create.recorded[path] ?? null, rowAt(rows, path)),
    ),
  );
}

function changeablePaths({ recorded }: Recorded, schema: KindSchema): readonly string[] {
  const rows = fieldRows(schema);
  return Object.keys(recorded).filter((path) => {
    const row = rows.get(path);
    if (row === undefined || row["x-create-only"] === true || row["x-place"] === true) return false;
    return row["x-reference"] === undefined && row["x-operations"] === undefined;
  });
}

/** True if the service shows a field in which the two differ, whichever of the two objects is looked at. */
function areDistinguishable(
  one: Recorded,
  other: Recorded,
  schema: KindSchema,
  shown: ReadonlySet<string>,
): boolean {
  const rows = fieldRows(schema);
  return [...shown].some((path) => {
    const [left, right] = [one.recorded[path], other.recorded[path]];
    const row = rows.get(path);
    if (row === undefined || left === undefined || right === undefined) return false;
    if (typeof left === "object" || typeof right === "object") return false;
    return !isSilent(row, left) && !isSilent(row, right) && !looksAlike(left, right, row);
  });
}

/**
 * True for fields that prove nothing: a reference is an id there, an operation may be due yet, the service may have another default, a
 * label may be shown as an amount, and an access list in part.
 */
export function isSilent(row: FieldSchema, wanted: Json): boolean {
  const { "x-compare": compare, "x-reference": reference, "x-operations": operations } = row;
  const isRespelled = compare !== undefined && compare !== "size";
  return reference !== undefined || operations !== undefined || row.default === wanted || isRespelled;
}

/** True if two values are equal, ignoring case: services write providers and regions in either case. */
export function looksAlike(one: Json, other: Json, row: FieldSchema): boolean {
  const lower = (value: Json): Json => (typeof value === "string" ? value.toLowerCase() : value);
  return sameValue(lower(one), lower(other), row);
}
