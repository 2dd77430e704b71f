/** @module Decides which fields can tell two objects apart. Pure. */
import { sameValue } from "../../model/compare.ts";
import type { Json } from "../../model/json.ts";
import type { Trait } from "../../model/traits.ts";

/**
 * True for fields that prove nothing: a reference is a name here and an id there, an operation may be due yet, the service
 * may have another default, a label may be shown as another amount, and an access list is shown in part.
 */
export function isSilent({ compare, reference, operations, default: usual }: Trait, wanted: Json): boolean {
  const isRespelled = compare !== undefined && compare !== "size";
  return reference !== undefined || operations !== undefined || usual === wanted || isRespelled;
}

/** True where two values are the same, whatever the case: services write providers and regions either way. */
export function looksAlike(one: Json, other: Json, trait: Trait): boolean {
  const lower = (value: Json): Json => (typeof value === "string" ? value.toLowerCase() : value);
  return sameValue(lower(one), lower(other), trait);
}
