/** @module Compares a declared spec with an observed one, field by field. */

import { sameValue } from "../model/compare.ts";
import { type Disruption, type FieldSchema, type Rows, rowAt, verbsBetween } from "../model/field-schema.ts";
import { defined, type Json } from "../model/json.ts";
import type { Seen } from "../model/observed.ts";
import type { FieldChange } from "../model/plan.ts";
import { fieldsOf, type Spec } from "../model/spec.ts";
import { waitsFor } from "../model/templates.ts";

export interface DiffInput {
  /** Desired spec; absent paths are not managed. */
  readonly desired: Spec;
  readonly observed: { readonly [path: string]: Seen };
  readonly rows: Rows;
  /** Paths that are left alone. */
  readonly ignored: readonly string[];
  /** Paths whose referent is recreated, so that the same name will mean another object. */
  readonly moving: ReadonlySet<string>;
  /** Treatment of a managed field that nothing shows: set it, or trust that it is as declared. */
  readonly unseen: "set" | "trust";
}

/**
 * The fields that differ, by path. Only what the manifest mentions can differ; a value that waits for an output differs only if that
 * output moves.
 */
export function diffSpec(input: DiffInput): readonly FieldChange[] {
  return fieldsOf(input.desired)
    .filter(([path]) => !input.ignored.some((ignored) => covers(ignored, path)))
    .filter(([path, value]) => input.moving.has(path) || differs(path, value, input))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, value]) => fieldChange(path, value, input));
}

/** True if a field shows another value, or shows none and is to be set. */
function differs(path: string, value: Json, input: DiffInput): boolean {
  const row = rowAt(input.rows, path);
  const seen = input.observed[path];
  if (waitsFor(value).length > 0) return false;
  if (seen === undefined) return isSet(row, input.unseen);
  return isReachable(row, seen.value, value) && !sameValue(seen.value, value, row);
}

/** True if a field that nothing shows is set: never if it cannot be changed, or if operations change it. */
function isSet(row: FieldSchema, unseen: DiffInput["unseen"]): boolean {
  return unseen === "set" && !row["x-create-only"] && row["x-operations"] === undefined;
}

/** A field that is reached by verbs differs only where a verb leads from here to there. */
function isReachable(row: FieldSchema, before: Json, after: Json): boolean {
  return (
    row["x-operations"] === undefined ||
    before === after ||
    verbsBetween(row, String(before), String(after)).length > 0
  );
}

/** True if one path of `ignoreChanges` names another path, or a map that it stands in. */
export function covers(ignored: string, path: string): boolean {
  return path === ignored || path.startsWith(`${ignored}.`);
}

function fieldChange(path: string, after: Json, input: DiffInput): FieldChange {
  const row = rowAt(input.rows, path);
  const seen = input.observed[path];
  return {
    path,
    ...defined({ before: seen?.value, source: seen?.source }),
    after,
    effect: row["x-create-only"] ? "replace" : "in-place",
    disruption: disruptionOf(row, seen?.value, after),
    secret: row["x-secret"] === true,
  };
}

function disruptionOf(row: FieldSchema, before: Json | undefined, after: Json): Disruption {
  if (row["x-create-only"]) return "data-loss";
  const verb = verbsBetween(row, String(before), String(after)).at(-1)?.verb;
  if (verb === undefined) return row["x-disruption"] ?? "none";
  return verb === "start" ? "none" : verb === "stop" ? "downtime" : "restart";
}
