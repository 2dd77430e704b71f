/** @module Decides which fields can tell two objects apart. Pure. */
import type { FieldSchema } from "../../model/field-schema.ts";
import type { Json } from "../../model/json.ts";
import { looksSame } from "../../model/looks-same.ts";

/**
 * True for fields that prove nothing: a reference is a name here and an id there, an operation may be due yet, the service
 * may have another default, and some spellings only planning can compare.
 */
export function isSilent(row: FieldSchema, wanted: Json): boolean {
  const spelled = row["x-compare"] !== undefined && row["x-compare"] !== "size";
  return (
    row["x-reference"] !== undefined || row["x-operations"] !== undefined || row.default === wanted || spelled
  );
}

/** True where two values are the same, whatever the case: services write providers and regions either way. */
export function looksAlike(one: Json, other: Json): boolean {
  const lower = (value: Json): Json => (typeof value === "object" ? value : String(value).toLowerCase());
  return looksSame(lower(one), lower(other));
}
