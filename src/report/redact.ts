/** @module Replaces the secrets of a plan, a drift report, a state and an outcome; every report is made of the result. */
import { holdsPassword } from "../model/acl.ts";
import type { DriftReport, ResourceDrift } from "../model/drift.ts";
import { defined, isObject, type Json, mapped, stableJson } from "../model/json.ts";
import type { Outcome } from "../model/outcome.ts";
import type { Change, FieldChange, Plan } from "../model/plan.ts";
import { holdsSecret, isReference, isTemplate, sensitive } from "../model/sealed.ts";
import type { Spec } from "../model/spec.ts";
import type { Bound, RecordedOutput, StateDocument } from "../model/state.ts";
import { withoutUserinfo } from "../model/userinfo.ts";
import { escapeText, quoteText } from "./typeset.ts";
import { type KindNames, rowAt } from "./words.ts";

/** A plan as reports get it; its steps have no specs. */
export type RedactedPlan = Plan<RedactedValue>;

export type RedactedChange = Change<RedactedValue>;

export type RedactedSpec = Spec<RedactedValue>;

export type RedactedDrift = DriftReport<RedactedValue>;

export type RedactedOutcome = Outcome<RedactedValue>;

export type RedactedOutputs = { readonly [name: string]: RecordedOutput<RedactedValue> };

/** A state as reports get it: without its key, and without what only the next run needs. */
export interface RedactedState
  extends Pick<StateDocument, "name" | "lineage" | "serial" | "savedAt" | "service" | "manifest"> {
  readonly resources: { readonly [address: string]: Bound<RedactedValue> };
  /** Creates whose answers are not known. */
  readonly pending: { readonly [address: string]: { readonly kind: string; readonly startedAt: string } };
  readonly outputs: RedactedOutputs;
}

/** Leaves out the values of resources that stay as they are: only JSON has them, and there may be ten thousand. */
export function withoutUnchanged(plan: Plan): Plan {
  const changes = plan.changes.map((change) => {
    const { before: _, after: __, ...named } = change;
    return change.action === "keep" ? named : change;
  });
  return { ...plan, changes };
}

/** Replaces the secrets of a plan. A value is hidden on both sides of a change if either of them is, or holds, a secret. */
export function redactPlan(plan: Plan, names: KindNames): RedactedPlan {
  return {
    ...plan,
    changes: plan.changes.map((change) => redactChange(change, names)),
    steps: plan.steps.map(({ spec: _, patch: __, record: ___, ...step }) => step),
    outputs: mapped(plan.outputs, ({ before, after, ...facts }) => {
      const sensitive = facts.sensitive || holdsSecret(before) || holdsSecret(after);
      return { ...facts, sensitive, ...sidesOf({ before, after }, sensitive) };
    }),
  };
}

export function redactDrift(report: DriftReport, names: KindNames): RedactedDrift {
  return {
    ...report,
    resources: report.resources.map((resource) => redactResource(resource, names)),
    outputs: report.outputs.map(({ applied, seen, ...rest }) => {
      const sensitive = rest.sensitive || holdsSecret(applied) || holdsSecret(seen);
      return { ...rest, sensitive, ...sidesOf({ applied, seen }, sensitive) };
    }),
  };
}

export function redactState(state: StateDocument, names: KindNames): RedactedState {
  const { name, lineage, serial, savedAt, service, manifest } = state;
  return {
    ...{ name, lineage, serial, savedAt },
    ...defined({ service, manifest }),
    resources: mapped(state.resources, (bound) => {
      const { kind, recorded, converging, ...rest } = bound;
      const hidden = hiddenIn(kind, Object.entries(recorded), names);
      return {
        ...{ kind, ...rest, recorded: redactSpec(recorded, hidden) },
        ...(converging === undefined ? {} : { converging: { ...converging, record: {} } }),
      };
    }),
    pending: mapped(state.intents, ({ round, startedAt }) => ({
      kind: state.rounds[round]?.kind ?? "",
      startedAt,
    })),
    outputs: redactOutputs(state.outputs),
  };
}

export function redactOutcome(outcome: Outcome, names: KindNames): RedactedOutcome {
  return {
    ...outcome,
    outputs: redactOutputs(outcome.outputs),
    certificate: outcome.certificate.map(({ field, ...left }) => {
      if (field === undefined) return left;
      const hidden = hiddenIn(left.kind, bothOf(field), names);
      return { ...left, field: redactField(field, hidden) };
    }),
  };
}

export function redactOutputs(outputs: { readonly [name: string]: RecordedOutput }): RedactedOutputs {
  return mapped(outputs, (output) => {
    const value = redactValue(output.value, output.sensitive);
    return { value, sensitive: hasTrue(value.sensitive) };
  });
}

function redactChange(change: Change, names: KindNames): RedactedChange {
  const { before, after, fields, drift, ...rest } = change;
  const given = [...fields, ...drift];
  const values = [
    ...Object.entries({ ...before }),
    ...Object.entries({ ...after }),
    ...given.flatMap(bothOf),
  ];
  const hidden = hiddenIn(change.kind, values, names);
  for (const field of given) if (field.secret) hidden.add(field.path);
  return {
    ...rest,
    fields: fields.map((field) => redactField(field, hidden)),
    drift: drift.map((field) => redactField(field, hidden)),
    ...(before === undefined ? {} : { before: redactSpec(before, hidden) }),
    ...(after === undefined ? {} : { after: redactSpec(after, hidden) }),
  };
}

function redactField(field: FieldChange, hidden: ReadonlySet<string>): FieldChange<RedactedValue> {
  const { before, after, ...facts } = field;
  const secret = field.secret || hidden.has(field.path);
  return { ...facts, secret, ...sidesOf({ before, after }, secret) };
}

function bothOf({ path, before, after }: FieldChange): readonly (readonly [string, Json | undefined])[] {
  return [
    [path, before],
    [path, after],
  ];
}

function redactResource(resource: ResourceDrift, names: KindNames): ResourceDrift<RedactedValue> {
  const fields = resource.fields.map((field) => {
    const { applied, seen, declared, ...facts } = field;
    const values = [applied, seen, declared].map((value) => [field.path, value] as const);
    const secret = field.secret || hiddenIn(resource.kind, values, names).size > 0;
    return { ...facts, secret, ...sidesOf({ applied, seen, declared }, secret) };
  });
  return { ...resource, fields };
}

/** The paths whose values are hidden as a whole: secret fields, and those of which one value holds a secret. */
function hiddenIn(
  kind: string,
  values: readonly (readonly [path: string, value: Json | undefined])[],
  names: KindNames,
): Set<string> {
  const hidden = values.filter(([path, value]) => {
    const row = rowAt(kind, path, names);
    if (row?.["x-secret"] === true || holdsSecret(value)) return true;
    return row?.["x-compare"] === "acl" && typeof value === "string" && holdsPassword(value);
  });
  return new Set(hidden.map(([path]) => path));
}

function redactSpec(spec: Spec, hidden: ReadonlySet<string>): RedactedSpec {
  return mapped(spec, (value, path) => redactValue(value, hidden.has(path)));
}

/** The values of a difference without secrets, as far as there are any. */
function sidesOf<Side extends string>(
  sides: { readonly [side in Side]?: Json | undefined },
  isHidden: boolean,
): { readonly [side in Side]?: RedactedValue };
function sidesOf(sides: { readonly [side: string]: Json | undefined }, isHidden: boolean): object {
  return defined(mapped(sides, (value) => (value === undefined ? value : redactValue(value, isHidden))));
}

const made: unique symbol = Symbol("redacted");

/** A value without secrets. Only this file makes one: neither a value as it was read nor a sealed one is assignable to it. */
export interface RedactedValue {
  readonly [made]: true;
  /** On one line, for people: text in quotes, a secret as `(sensitive)`, an output that is not known yet as `(known after apply)`. */
  readonly text: string;
  /** As JSON, without what is known only after apply; absent if that is all of it. */
  readonly json?: Json;
  /** True, or the shape of the value with `true` at each place that has `(sensitive)` in it. */
  readonly sensitive: Json;
  /** The same for what is known only after apply. */
  readonly unknown: Json;
}

/** Replaces a value that is an output of a resource not created yet. */
export const knownAfterApply = "(known after apply)";

/** The value without secrets: hidden as a whole if `isHidden`, or if it holds a secret. */
export function redactValue(value: Json, isHidden: boolean): RedactedValue {
  if (isHidden || holdsSecret(value))
    return { [made]: true, text: sensitive, json: sensitive, sensitive: true, unknown: false };
  return { [made]: true, ...partsOf(value), text: textOf(value) };
}

/** The fields that a spec sets: a group without entries sets none. */
export function redactedFields(
  spec: RedactedSpec = {},
): readonly (readonly [path: string, value: RedactedValue])[] {
  return Object.entries(spec).filter(([, { json }]) => !isObject(json) || Object.keys(json).length > 0);
}

/** True if both are the same and shown as a whole: of two secrets nothing is said. */
export function sameRedacted(left: RedactedValue | undefined, right: RedactedValue | undefined): boolean {
  if (left === undefined || right === undefined || hasTrue(left.sensitive) || hasTrue(right.sensitive))
    return false;
  return left.text === right.text && stableJson(left.json ?? null) === stableJson(right.json ?? null);
}

/** True for `true`, and for a shape with `true` in it. */
export function hasTrue(shape: Json): boolean {
  if (Array.isArray(shape)) return shape.some(hasTrue);
  return isObject(shape) ? Object.values(shape).some(hasTrue) : shape === true;
}

function partsOf(value: Json): Pick<RedactedValue, "json" | "sensitive" | "unknown"> {
  if (isReference(value) || isTemplate(value)) return { sensitive: false, unknown: true };
  if (typeof value === "string") {
    const json = withoutUserinfo(value);
    return { json, sensitive: json !== value, unknown: false };
  }
  if (Array.isArray(value)) {
    const parts = value.map(partsOf);
    const marks = (which: "sensitive" | "unknown"): Json => {
      const list = parts.map((part) => part[which]);
      return list.some(hasTrue) ? list : [];
    };
    return {
      json: parts.map((part) => part.json ?? null),
      sensitive: marks("sensitive"),
      unknown: marks("unknown"),
    };
  }
  if (!isObject(value)) return { json: value, sensitive: false, unknown: false };
  const parts = Object.entries(value).map(([key, inner]) => [key, partsOf(inner)] as const);
  const marks = (which: "sensitive" | "unknown"): Json =>
    Object.fromEntries(
      parts.flatMap(([key, part]) => (hasTrue(part[which]) ? [[key, part[which]] as const] : [])),
    );
  const json = Object.fromEntries(
    parts.flatMap(([key, part]) => (part.json === undefined ? [] : [[key, part.json] as const])),
  );
  return { json, sensitive: marks("sensitive"), unknown: marks("unknown") };
}

function textOf(value: Json): string {
  if (isReference(value)) return knownAfterApply;
  if (isTemplate(value)) {
    const [only] = value.$template;
    return value.$template.length <= 1 && typeof only !== "string"
      ? knownAfterApply
      : quoteText(withoutUserinfo(expressionOf(value)));
  }
  if (typeof value === "string") return quoteText(withoutUserinfo(value));
  return typeof value === "object" ? escapeText(stableJson(asWritten(value)), 240) : String(value);
}

/** Replaces every expression in lists and maps by its text. */
function asWritten(value: Json): Json {
  if (isTemplate(value) || isReference(value)) return withoutUserinfo(expressionOf(value));
  if (typeof value === "string") return withoutUserinfo(value);
  if (Array.isArray(value)) return value.map(asWritten);
  if (!isObject(value)) return value;
  return mapped(value, asWritten);
}

function expressionOf(value: Json): string {
  if (isReference(value)) return `\${${value.$ref}}`;
  if (!isTemplate(value)) return String(value);
  return value.$template.map(expressionOf).join("");
}
