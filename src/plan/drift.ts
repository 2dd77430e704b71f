/** @module Finds the fields that were changed outside since the last apply. */

import { sameValue } from "../model/compare.ts";
import { fieldRows, rowAt } from "../model/field-schema.ts";
import type { Json } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import type { Observed, Seen } from "../model/observed.ts";
import type { FieldChange } from "../model/plan.ts";
import { appliedOf } from "../model/precondition.ts";
import type { Spec } from "../model/spec.ts";
import type { Bound } from "../model/state.ts";
import { diffSpec } from "./diff.ts";
import { remedyForDrift } from "./probed.ts";

/**
 * Differences between applied values and shown ones, save those that the manifest declares too or an operation in progress explains. Of
 * an object that is not bound yet, probed values that differ from the declared ones.
 */
export function driftOf(
  observed: Observed,
  bound: Bound | undefined,
  after: Spec,
  { schema, noun }: Pick<Kind, "schema" | "noun">,
  planned: readonly FieldChange[],
): readonly FieldChange[] {
  const rows = fieldRows(schema);
  const isPlanned = new Set(planned.map(({ path }) => path));
  const recorded =
    bound === undefined
      ? declaredOfProbed(
          observed,
          after,
          (path) => isPlanned.has(path) || rowAt(rows, path)["x-secret"] === true,
        )
      : appliedOf(bound);
  const isReplaced = planned.some(({ effect }) => effect === "replace");
  const shown = Object.entries(observed.spec).filter(([path, seen]) => {
    if (seen.source === "recorded" || !Object.hasOwn(recorded, path)) return false;
    const wanted = after[path];
    return wanted === undefined || !sameValue(wanted, seen.value, rowAt(rows, path));
  });
  if (shown.length === 0) return [];
  const drifted = diffSpec({
    desired: Object.fromEntries(shown.map(([path, seen]) => [path, seen.value])),
    observed: Object.fromEntries(
      shown.map(([path]): [string, Seen] => [path, { value: recorded[path] ?? null, source: "recorded" }]),
    ),
    rows,
    ignored: [],
    moving: new Set(),
    unseen: "trust",
  });
  return drifted.map((field): FieldChange => {
    const seen = observed.spec[field.path];
    if (seen?.source !== "probed") return field;
    const shared = { ...field, effect: "in-place", disruption: "none", shownBy: "probed" } as const;
    if (isPlanned.has(field.path)) return shared;
    if (bound === undefined && isReplaced)
      return { ...shared, wayOut: "set by hand in the database; a new one starts as declared" };
    const values = { live: seen.value, wanted: after[field.path] ?? null };
    return { ...shared, wayOut: remedyForDrift(field.path, { noun, rows }, observed, values) };
  });
}

/** The declared values of fields that the running object shows itself, without those that are left out. */
function declaredOfProbed({ spec }: Observed, after: Spec, isLeftOut: (path: string) => boolean): Spec {
  const entries = Object.entries(spec).flatMap(([path, { source }]): [string, Json][] => {
    const wanted = after[path];
    return source !== "probed" || wanted === undefined || isLeftOut(path) ? [] : [[path, wanted]];
  });
  return Object.fromEntries(entries);
}
