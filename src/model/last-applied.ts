/** @module Holds the last applied values of an object: beneath what is shown, and in what a step notes of its decision. */

import { sameValue } from "./compare.ts";
import { fieldRows, type Rows, rowAt } from "./field-schema.ts";
import { type Json, stableJson } from "./json.ts";
import type { KindRegistry } from "./kind.ts";
import { type Live, objectKey, type PhaseName, type Ref, type Seen } from "./observed.ts";
import { perObject } from "./once.ts";
import type { Step } from "./plan.ts";
import { holdsSecret } from "./sealed.ts";
import type { Spec } from "./spec.ts";
import type { Bound, StateDocument } from "./state.ts";

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

/** Lays shown values over the last applied ones. A value sent since is applied, or unknown if its operation failed. */
export function overlay(
  shown: Spec<Seen>,
  bound: Bound | undefined,
  phase: PhaseName,
  whole: readonly string[] = [],
): Spec<Seen> {
  if (bound === undefined) return shown;
  const unknown = phase === "failed" ? (bound.converging?.record ?? {}) : {};
  const recorded = Object.entries(appliedOf(bound))
    .filter(([path]) => !Object.hasOwn(unknown, path) && !whole.some((map) => path.startsWith(`${map}.`)))
    .map(([path, value]): [string, Seen] => [path, { value, source: "recorded" }]);
  return { ...Object.fromEntries(recorded), ...shown };
}

/** The facts that a decision about an object rests on; `state`: the one that the plan is made from. */
export interface DecisionFacts {
  readonly kinds: KindRegistry;
  readonly state: Pick<StateDocument, "resources">;
  readonly digest: (text: string) => string;
}

/** Notes the paths of an object that a decision used, those of them that its database showed, and the digest of their values. */
export function notesOn(
  live: Live | undefined,
  decision: Pick<Step, "kind" | "place" | "checks">,
  facts: DecisionFacts,
): Pick<Step, "checks" | "probed" | "precondition"> {
  const { checks } = decision;
  const probed = checks.filter((path) => live?.spec[path]?.source === "probed");
  const precondition = preconditionOf(live, decision, facts);
  return { checks, ...(probed.length === 0 ? {} : { probed }), precondition };
}

/** The precondition of a step on an object that shows these values. */
export function preconditionOf(
  live: Live | undefined,
  { kind, place, checks }: Pick<Step, "kind" | "place" | "checks">,
  { kinds, state, digest }: DecisionFacts,
): string {
  const applied = live === undefined ? {} : lastApplied(state, kind, { id: live.id, place });
  return digest(preconditionText(live, checks, applied, fieldRows(kinds.named(kind).schema)));
}

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
