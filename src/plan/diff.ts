/** @module Compares what is declared, what was applied, and what the service and the running object show, field by field. */
import { isIgnored } from "../model/desired.ts";
import { shellWord } from "../model/errors.ts";
import {
  type Disruption,
  type FieldSchema,
  fieldRows,
  isSettable,
  limitOf,
  partnersOf,
  type Rows,
  rowAt,
  verbsBetween,
} from "../model/field-schema.ts";
import { defined, type Json, own } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import type { Observed, Seen } from "../model/observed.ts";
import type { FieldChange } from "../model/plan.ts";
import { fieldsOf, type Spec } from "../model/spec.ts";
import type { Bound } from "../model/state.ts";
import { filledIn, type OutputsOf, waitsFor } from "../model/templates.ts";
import { appliedOf, sameValue } from "../model/values.ts";

export interface DiffInput {
  /** Desired spec; absent paths are not managed. */
  readonly desired: Spec;
  readonly observed: { readonly [path: string]: Seen };
  readonly rows: Rows;
  /** Paths that are left alone. */
  readonly ignored: readonly string[];
  /** Paths whose value changes with another object: the name of a new one, or an output that is shown now and changes. */
  readonly following: ReadonlySet<string>;
  /** Treatment of a managed field that nothing shows: set it, or trust that it is as declared. */
  readonly unseen: "set" | "trust";
}

/** The fields that differ, by path. Only what the manifest mentions can differ, and a value that waits for an output only if that changes. */
export function diffSpec(input: DiffInput): readonly FieldChange[] {
  return fieldsOf(input.desired)
    .filter(([path]) => !isIgnored(path, input.ignored))
    .filter(([path, value]) => input.following.has(path) || differs(path, value, input))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, value]) => fieldChange(path, value, input));
}

/** True if a field shows another value, or shows none and is to be set. */
function differs(path: string, value: Json, input: DiffInput): boolean {
  const row = rowAt(input.rows, path);
  const seen = input.observed[path];
  if (waitsFor(value).length > 0) return false;
  // A field that is not shown is set only if an update can change it.
  if (seen === undefined)
    return input.unseen === "set" && !row["x-create-only"] && row["x-operations"] === undefined;
  return isReachable(row, seen.value, value) && !sameValue(seen.value, value, row);
}

/** A field that is reached by verbs differs only where a verb leads from here to there. */
function isReachable(row: FieldSchema, before: Json, after: Json): boolean {
  return (
    row["x-operations"] === undefined ||
    before === after ||
    verbsBetween(row, String(before), String(after)).length > 0
  );
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

type SeenSpec = Observed["spec"];

/** Puts probed values in place of configured ones, unless the manifest declares another value than the configured one. A refused login is null. */
export function withProbed(observed: Observed, desired: Spec, outputsOf: OutputsOf, rows: Rows): Observed {
  const shown = Object.entries(observed.probed?.values ?? {});
  if (shown.length === 0 || observed.phase.is !== "ready") return observed;
  const wanted = filledIn(desired, outputsOf);
  const spec = { ...observed.spec };
  for (const [path, value] of shown) {
    const want = own(wanted, path);
    const configured = own(observed.spec, path);
    if (want === undefined) continue;
    if (configured !== undefined && !sameValue(configured.value, want, rowAt(rows, path))) continue;
    spec[path] = { value, source: "probed", ...defined({ configured }) };
  }
  return { ...observed, spec };
}

/**
 * The observed values that the diff compares. A probed value is compared only if an update could set it. For a create-only or ineffective field
 * the configured value is compared instead, so a value set by hand never causes a replacement. Without a configured value, a probed one is
 * compared only if it cannot be set while the database runs.
 */
export function plannedFrom(
  spec: SeenSpec,
  rows: Rows,
  bound: Pick<Bound, "ineffective"> | undefined,
): SeenSpec {
  if (Object.values(spec).every(({ source }) => source !== "probed")) return spec;
  const entries = Object.entries(spec).flatMap(([path, seen]): [string, Seen][] => {
    const row = rowAt(rows, path);
    const isSent = !row["x-create-only"] && bound?.ineffective?.includes(path) !== true;
    if (seen.source !== "probed" || isSent) return [[path, seen]];
    if (seen.configured !== undefined) return [[path, seen.configured]];
    return isSettable(row) ? [] : [[path, seen]];
  });
  return Object.fromEntries(entries);
}

/** The fields that were set by hand in the running object and can be set back there. */
export function heals(
  wanted: Spec,
  { spec, probed }: Pick<Observed, "spec" | "probed">,
  rows: Rows,
  ignored: readonly string[],
): readonly FieldChange[] {
  const found = fieldsOf(wanted).flatMap(([path, after]): FieldChange[] => {
    const [seen, row] = [own(spec, path), rowAt(rows, path)];
    if (seen?.source !== "probed" || !canBeHealed(row) || sameValue(seen.value, after, row)) return [];
    if (isIgnored(path, ignored)) return [];
    const secret = row["x-secret"] === true;
    const shared = { path, before: seen.value, after, source: seen.source, secret };
    return [{ ...shared, effect: "in-place", disruption: "none", via: "database" }];
  });
  return found.filter(({ path, after = null }) => forbidding(path, after, probed, rows, found) === undefined);
}

/** The field, not set back itself, whose live value forbids to set another one in the running object. */
function forbidding(
  path: string,
  wanted: Json,
  probed: Observed["probed"],
  rows: Rows,
  healed: readonly FieldChange[],
): { readonly path: string; readonly value: Json } | undefined {
  const isHealing = new Set(healed.map((field) => field.path));
  return partnersOf(path, rows)
    .filter((partner) => !isHealing.has(partner))
    .map((partner) => ({ path: partner, value: own(probed?.values ?? {}, partner) ?? 0 }))
    .find((partner) => {
      const isLimit = limitOf(rowAt(rows, path)) === partner.path;
      const [value, limit] = isLimit ? [wanted, partner.value] : [partner.value, wanted];
      return Number(limit) !== 0 && Number(value) > Number(limit);
    });
}

/** True for a field that no update changes and that can be set in the running object. */
function canBeHealed(row: FieldSchema): boolean {
  return row["x-create-only"] === true && isSettable(row);
}

/** The way to undo a difference that a probe has found and that apply leaves as it is. */
function remedyForDrift(
  path: string,
  { noun, rows }: { readonly noun: string; readonly rows: Rows },
  { address, probed }: Pick<Observed, "address" | "probed">,
  { live, wanted }: { readonly live: Json; readonly wanted: Json },
): string {
  const row = rowAt(rows, path);
  const partner = canBeHealed(row) ? forbidding(path, wanted, probed, rows, []) : undefined;
  const restart = `graphform ${noun} restart ${shellWord(address)} loads what is configured`;
  if (partner !== undefined)
    return `${partner.path} is ${String(partner.value)} in the database and does not allow it: ${restart}`;
  if (row["x-create-only"]) return restart;
  const what = live === null ? "refuses it" : "shows another value";
  return `${path} was applied and the database ${what}: change the declared value, or ask those who run the service`;
}

/**
 * The differences between applied and shown values. The values of an operation in progress count as applied. A shown value that the manifest
 * declares too is no difference. An object that is not bound yet has no applied values: its probed values are compared with the declared ones.
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
    following: new Set(),
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
