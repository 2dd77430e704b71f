/** @module Lists the fields of a resource that differ from the last apply, each with its class. */
import { type Desired, isIgnored } from "../../model/desired.ts";
import { type DriftClass, driftClasses, type FieldDrift } from "../../model/drift.ts";
import type { SourceRange } from "../../model/errors.ts";
import { type FieldSchema, fieldRows, type KindSchema, rowAt } from "../../model/field-schema.ts";
import { defined, type Json, stableJson } from "../../model/json.ts";
import type { Observed, Seen } from "../../model/observed.ts";
import type { Change, FieldChange } from "../../model/plan.ts";
import { passwordRefused } from "../../model/probe.ts";
import { fieldsOf } from "../../model/spec.ts";
import type { Bound } from "../../model/state.ts";
import { waitsFor } from "../../model/templates.ts";
import { appliedOf, sameValue } from "../../model/values.ts";

export interface Compared {
  readonly change: Change;
  readonly bound: Bound;
  readonly observed: Observed;
  /** Absent if the manifest declares the resource no longer. */
  readonly desired?: Desired;
  readonly schema: KindSchema;
  readonly fieldRange: (path: string) => SourceRange | undefined;
}

/** The fields that differ, the worst class first, then by path. */
export function fieldDrifts(given: Compared): readonly FieldDrift[] {
  const compared = { ...given, observed: withProbedDrift(given) };
  const { change, bound, observed } = compared;
  const planned = new Map(change.fields.map((field): [string, FieldChange] => [field.path, field]));
  const declared = new Map(fieldsOf(change.after ?? {}));
  const paths = new Set([
    ...Object.keys(observed.spec),
    ...Object.keys(appliedOf(bound)),
    ...planned.keys(),
    ...change.drift.map(({ path }) => path),
  ]);
  const found = [...paths].flatMap((path): FieldDrift[] => {
    const field = planned.get(path);
    const wanted = declared.get(path) ?? field?.after;
    const values = valuesOf(path, compared, { ...defined({ declared: wanted }), field });
    const verdict = classifyField(values);
    if (verdict === undefined) return [];
    const { applied, seen, row } = values;
    const source = observed.spec[path]?.source;
    const where = compared.fieldRange(path);
    const wayOut = change.drift.find((drift) => drift.path === path)?.wayOut;
    return [
      {
        path,
        ...verdict,
        ...(wayOut === undefined ? {} : { reason: `${verdict.reason}; ${wayOut}` }),
        ...defined({ applied, seen, source, declared: wanted, where }),
        secret: row["x-secret"] === true,
        ...(source === "probed" && row["x-create-only"] ? { fixed: true } : {}),
        ...(field === undefined ? {} : { remedy: { effect: field.effect, disruption: field.disruption } }),
      },
    ];
  });
  return found.sort(worstFirst);
}

/** The observed resource with the values in which the running object itself was found to differ. */
function withProbedDrift({ observed, change }: Compared): Observed {
  const probed = change.drift.flatMap(({ path, after = null, shownBy }): [string, Seen][] =>
    shownBy === "probed" ? [[path, { value: after, source: "probed" }]] : [],
  );
  return probed.length === 0
    ? observed
    : { ...observed, spec: { ...observed.spec, ...Object.fromEntries(probed) } };
}

function valuesOf(
  path: string,
  { bound, observed, desired, schema }: Compared,
  { declared, field }: Pick<FieldValues, "declared"> & { readonly field: FieldChange | undefined },
): FieldValues {
  const applied = appliedOf(bound)[path];
  const seen = observed.spec[path];
  const isShown = seen === undefined ? isMissing(path, observed) : seen.source !== "recorded";
  const { converging } = bound;
  const isSent = converging !== undefined && Object.hasOwn(converging.record, path);
  return {
    ...defined({ applied }),
    ...(seen === undefined || seen.source === "recorded" ? {} : { seen: seen.value }),
    isShown,
    ...defined({ declared }),
    isPlanned: field !== undefined,
    isIgnored: desired !== undefined && isIgnored(path, desired.lifecycle.ignoreChanges),
    isUnderWay: isSent || (converging !== undefined && applied === undefined),
    row: rowAt(fieldRows(schema), path),
  };
}

/** True if the map that a path stands in is shown with everything in it, and without this. */
function isMissing(path: string, { whole = [] }: Observed): boolean {
  return whole.some((map) => path.startsWith(`${map}.`));
}

function worstFirst(left: FieldDrift, right: FieldDrift): number {
  const worse = driftClasses.indexOf(left.class) - driftClasses.indexOf(right.class);
  return worse === 0 ? (left.path < right.path ? -1 : 1) : worse;
}

/** Everything that is known of one field. A value is absent if there is none. */
interface FieldValues {
  readonly applied?: Json;
  /** Absent, with `isShown`: it was looked at, and is not there any more. */
  readonly seen?: Json;
  /** False if nothing shows the field, so that the last apply is all that is known. */
  readonly isShown: boolean;
  readonly declared?: Json;
  /** Apply would change the field. */
  readonly isPlanned: boolean;
  /** Named by `ignoreChanges`. */
  readonly isIgnored: boolean;
  /** An operation of graphform that sets it was not seen to finish. */
  readonly isUnderWay: boolean;
  readonly row: FieldSchema;
}

interface Classified {
  readonly class: DriftClass;
  readonly reason: string;
}

/** The class of a field's difference; undefined if nothing differs, or if that cannot be known. */
function classifyField(values: FieldValues): Classified | undefined {
  const { applied, seen, isShown, isPlanned, isUnderWay, row } = values;
  if (isUnderWay && isPlanned)
    return { class: "ours", reason: "set by an apply that was not seen to finish" };
  if (isUnderWay) return undefined;
  if (applied === undefined) return isPlanned ? ours("not applied yet") : undefined;
  if (!isShown && !isPlanned) return undefined;
  if (!isShown && row["x-secret"])
    return ours(
      "the secret of this run is another one than was last applied; nothing shows which of them holds",
    );
  if (!isShown) return ours("changed in the manifest; not shown by the service");
  if (seen === undefined || !sameValue(applied, seen, row)) return classifyChanged(values);
  // An apply and a lifecycle command leave the same trace, and the manifest may have changed since either.
  const left = `left ${String(applied)} by graphform itself; the manifest declares ${String(values.declared)}`;
  if (isPlanned) return ours(row["x-operations"] === undefined ? "changed in the manifest" : left);
  return String(spelling(applied)) === String(spelling(seen))
    ? undefined
    : { class: "cosmetic", reason: "the same value in another spelling" };
}

function classifyChanged({ seen, declared, isIgnored, row }: FieldValues): Classified {
  if (isIgnored) return { class: "cosmetic", reason: "left alone: ignoreChanges names it" };
  if (declared === undefined) return { class: "cosmetic", reason: "not managed: the manifest leaves it out" };
  if (waitsFor(declared).length > 0)
    return { class: "cosmetic", reason: "follows an output that is not known yet" };
  if (seen !== undefined && sameValue(declared, seen, row))
    return { class: "cosmetic", reason: "the manifest declares the new value, too" };
  if (seen === null && row["x-secret"]) return { class: "outside", reason: passwordRefused };
  return { class: "outside", reason: seen === undefined ? "removed outside" : "changed outside" };
}

function ours(reason: string): Classified {
  return { class: "ours", reason };
}

function spelling(value: Json): Json {
  return typeof value === "object" ? stableJson(value) : value;
}
