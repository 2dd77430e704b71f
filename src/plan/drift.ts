/** @module Finds the fields that somebody changed outside since the last apply. */
import { sameValue } from "../model/compare.ts";
import type { Kind } from "../model/kind.ts";
import type { Observed, Seen } from "../model/observed.ts";
import type { FieldChange } from "../model/plan.ts";
import type { Spec } from "../model/spec.ts";
import type { Bound } from "../model/state.ts";
import { traitAt, traitsOf } from "../model/traits.ts";
import { diffSpec } from "./diff.ts";
import { wayOut } from "./probed.ts";

/**
 * Differences between the last applied values and those shown now. A difference that the manifest declares too, or that an
 * operation in progress explains, is no drift.
 */
export function driftOf(
  observed: Observed,
  bound: Bound | undefined,
  after: Spec,
  { schema, noun }: Pick<Kind, "schema" | "noun">,
  planned: readonly FieldChange[],
): readonly FieldChange[] {
  if (bound === undefined) return [];
  const recorded = { ...bound.recorded, ...bound.converging?.record };
  const traits = traitsOf(schema);
  const shown = Object.entries(observed.spec).filter(([path, seen]) => {
    if (seen.source === "recorded" || !Object.hasOwn(recorded, path)) return false;
    const wanted = after[path];
    return wanted === undefined || !sameValue(wanted, seen.value, traitAt(traits, path));
  });
  if (shown.length === 0) return [];
  const drifted = diffSpec({
    desired: Object.fromEntries(shown.map(([path, seen]) => [path, seen.value])),
    observed: Object.fromEntries(
      shown.map(([path]): [string, Seen] => [path, { value: recorded[path] ?? null, source: "recorded" }]),
    ),
    traits,
    ignored: [],
    moving: new Set(),
    unseen: "trust",
  });
  const isPlanned = new Set(planned.map(({ path }) => path));
  return drifted.map((field): FieldChange => {
    const seen = observed.spec[field.path];
    if (seen?.source !== "probed") return field;
    const shared = { ...field, effect: "in-place", disruption: "none", shownBy: "probed" } as const;
    if (isPlanned.has(field.path)) return shared;
    const values = { live: seen.value, wanted: after[field.path] ?? null };
    return { ...shared, wayOut: wayOut(field.path, { noun, traits }, observed, values) };
  });
}
