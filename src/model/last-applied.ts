/** @module Computes the text behind the precondition of a step. */

import { sameValue } from "./compare.ts";
import { type Rows, rowAt } from "./field-schema.ts";
import { type Json, stableJson } from "./json.ts";
import { type Live, objectKey, type Ref } from "./observed.ts";
import { perObject } from "./once.ts";
import { holdsSecret } from "./sealed.ts";
import type { Spec } from "./spec.ts";
import type { Bound, StateDocument } from "./state.ts";

/**
 * The text whose digest a step's `precondition` is: exactly the values that its decision used. A field that shows nothing counts as last
 * applied: services show some values late. Secrets are never shown, and count for nothing.
 */
export function preconditionText(
  live: Live | undefined,
  checks: readonly string[],
  applied: Spec,
  rows: Rows,
): string {
  if (live === undefined) return stableJson({ there: false });
  const values = checks.map((path): [string, Json] => {
    const seen = live.spec[path];
    const last = holdsSecret(applied[path]) ? undefined : applied[path];
    if (seen === undefined || seen.source === "recorded") return [path, last ?? null];
    return [path, last !== undefined && sameValue(last, seen.value, rowAt(rows, path)) ? last : seen.value];
  });
  return stableJson({ there: true, id: live.id, values: Object.fromEntries(values) });
}

const byId = perObject((resources: StateDocument["resources"]) =>
  Map.groupBy(Object.values(resources), ({ id }) => id),
);

/** Values last applied to an object, whatever its address; empty if it is not bound. The state is one that does not change. */
export function lastApplied({ resources }: Pick<StateDocument, "resources">, kind: string, ref: Ref): Spec {
  const key = objectKey(kind, ref);
  const bound = byId(resources)
    .get(ref.id)
    ?.find((entry) => objectKey(entry.kind, entry) === key);
  return bound === undefined ? {} : appliedOf(bound);
}

/** The values that count as applied to a bound object: those sent since the last apply come over those recorded. */
export function appliedOf({ recorded, converging }: Pick<Bound, "recorded" | "converging">): Spec {
  return { ...recorded, ...converging?.record };
}
