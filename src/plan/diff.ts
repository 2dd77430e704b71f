/** @module Compares a declared spec with an observed one, field by field. */
import deepDiff from "deep-diff";
import type { Disruption } from "../model/field-schema.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { Seen } from "../model/observed.ts";
import type { FieldChange } from "../model/plan.ts";
import { fromLeaves, leaves } from "../model/spec-paths.ts";
import { waitsFor } from "../model/templates.ts";
import { canonical } from "./canonical.ts";
import type { Trait, Traits } from "./traits.ts";
import { traitAt, verbsBetween } from "./traits.ts";

export interface DiffInput {
  /** Desired spec; absent paths are not managed. */
  readonly desired: JsonObject;
  readonly observed: { readonly [path: string]: Seen };
  readonly traits: Traits;
  /** Paths that are left alone. */
  readonly ignored: readonly string[];
  /** Paths whose referent is recreated, so that the same name will mean another object. */
  readonly moving: ReadonlySet<string>;
  /** Treatment of a managed field that nothing shows: set it, or trust that it is as declared. */
  readonly unseen: "set" | "trust";
}

/**
 * The fields that differ, in the order of their paths. Desired is laid over observed first, so that what the
 * manifest does not mention cannot differ. A value that waits for an output differs only where that output moves.
 */
export function diffSpec(input: DiffInput): readonly FieldChange[] {
  const desired = managed(input);
  const before = new Map<string, Json>();
  const after = new Map<string, Json>();
  for (const [path, value] of desired) {
    const wanted = canonical(value, traitAt(input.traits, path));
    const shown = shownAt(path, value, wanted, input);
    // Canonical values are plain ones: what is the same needs no comparing, and most is.
    if (shown === wanted) continue;
    after.set(path, wanted);
    if (shown !== undefined) before.set(path, shown);
  }
  const changed = new Set([
    ...pathsThatDiffer(before, after),
    ...[...input.moving].filter((path) => desired.has(path)),
  ]);
  return [...changed].sort().map((path) => fieldChange(path, desired.get(path), input));
}

/** The value that a field is compared with, canonical; undefined where it is to be set and nothing shows it. */
function shownAt(path: string, value: Json, wanted: Json, input: DiffInput): Json | undefined {
  const trait = traitAt(input.traits, path);
  const seen = input.observed[path];
  if (waitsFor(value).length > 0) return wanted;
  if (seen === undefined) return isSet(trait, input.unseen) ? undefined : wanted;
  return isReachable(trait, seen.value, value) ? canonical(seen.value, trait) : wanted;
}

/** True where a field that nothing shows is set: never where it cannot be changed, or where operations change it. */
function isSet(trait: Trait, unseen: DiffInput["unseen"]): boolean {
  return unseen === "set" && !trait.createOnly && trait.operations === undefined;
}

/** A field that is reached by verbs differs only where a verb leads from here to there. */
function isReachable(trait: Trait, before: Json, after: Json): boolean {
  return (
    trait.operations === undefined ||
    before === after ||
    verbsBetween(trait, String(before), String(after)).length > 0
  );
}

function managed(input: DiffInput): ReadonlyMap<string, Json> {
  const all = leaves(input.desired);
  if (input.ignored.length === 0) return all;
  return new Map([...all].filter(([path]) => !input.ignored.some((ignored) => covers(ignored, path))));
}

function covers(ignored: string, path: string): boolean {
  return path === ignored || path.startsWith(`${ignored}.`);
}

function pathsThatDiffer(
  before: ReadonlyMap<string, Json>,
  after: ReadonlyMap<string, Json>,
): readonly string[] {
  if (after.size === 0) return [];
  const differences = deepDiff.diff(fromLeaves(before), fromLeaves(after)) ?? [];
  const roots = differences.map((difference) => (difference.path ?? []).join("."));
  return [...after.keys()].filter((path) => roots.some((root) => covers(root, path)));
}

function fieldChange(path: string, after: Json | undefined, input: DiffInput): FieldChange {
  const trait = traitAt(input.traits, path);
  const seen = input.observed[path];
  return {
    path,
    ...(seen === undefined ? {} : { before: seen.value, source: seen.source }),
    ...(after === undefined ? {} : { after }),
    effect: trait.createOnly ? "replace" : "in-place",
    disruption: disruptionOf(trait, seen?.value, after),
    secret: trait.secret,
  };
}

function disruptionOf(trait: Trait, before: Json | undefined, after: Json | undefined): Disruption {
  if (trait.createOnly) return "data-loss";
  const verb = verbsBetween(trait, String(before), String(after)).at(-1)?.verb;
  return verb === undefined ? trait.disruption : verbDisruption(verb);
}

/** The disruption of a lifecycle operation. */
function verbDisruption(verb: string): Disruption {
  return verb === "start" ? "none" : verb === "stop" ? "downtime" : "restart";
}
