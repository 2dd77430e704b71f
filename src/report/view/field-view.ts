/** @module Describes the fields of a change for people: before, after, source, effect and notes. */
import type { Disruption } from "../../model/field-schema.ts";
import type { Json } from "../../model/json.ts";
import { stableJson } from "../../model/json.ts";
import type { Source } from "../../model/observed.ts";
import type { Change, FieldChange } from "../../model/plan.ts";
import { isSecretPath, type KindNames } from "../kind-words.ts";
import { sensitive, valueText } from "../value-text.ts";
import { plannedSpec } from "./planned-spec.ts";

/** Kind of a field row: `new` of a resource that is created, `changed`, `replaces` what cannot be changed, `drifted` and left. */
export type FieldRole = "new" | "changed" | "replaces" | "drifted";

/** One field of a change. Values are as `valueText` shows them: quoted, secrets as `(sensitive)`, control characters visible. */
export interface FieldView {
  readonly path: string;
  readonly role: FieldRole;
  /** Absent where the field is new; `(not known)` where nobody shows the value of today. */
  readonly before?: string;
  /** `(no longer managed)` where the field is released. */
  readonly after: string;
  /** Source of `before`. */
  readonly source?: Source;
  /** Source of `after`, where that is a value that was seen. */
  readonly afterSource?: Source;
  readonly disruption: Disruption;
  readonly secret: boolean;
  /** `forces replacement`, `changed outside, was 25`, ...: at most two. */
  readonly notes: readonly string[];
}

/** The fields that a change sets, those that force a replacement first; of a new resource all of them. */
export function fieldsOf(change: Change, names: KindNames): readonly FieldView[] {
  if (change.action === "create") return newFields(change, names);
  const forcing = change.fields.filter((field) => field.effect === "replace");
  const others = change.fields.filter((field) => field.effect !== "replace");
  return [...forcing, ...others].map((field) => {
    const role = field.effect === "replace" ? "replaces" : "changed";
    return { ...fieldView(field, change, role, names), notes: notesOf(field, change) };
  });
}

/** The note on what was changed outside where apply does not undo it. */
export const leftAsIs = "changed outside, left as it is";

/** The fields that were changed outside and that the change leaves as they are. */
export function driftedFields(change: Change, names: KindNames): readonly FieldView[] {
  const shown = new Set(change.fields.map((field) => field.path));
  return change.drift
    .filter((field) => !shown.has(field.path))
    .map((field) => ({
      ...fieldView(field, change, "drifted", names),
      notes: [field.wayOut ?? leftAsIs],
    }));
}

/** Fields that a binding takes from the manifest: the service does not show them, so they were not checked. */
export function uncheckedFields(change: Change): readonly string[] {
  if (change.action !== "adopt") return [];
  const { before, after } = plannedSpec(change);
  return [...after.keys()].filter((path) => !before.has(path));
}

function newFields(change: Change, names: KindNames): readonly FieldView[] {
  return [...plannedSpec(change).after].map(([path, value]) => {
    const secret = isSecretPath(change.kind, path, names);
    return { path, role: "new", after: valueText(value, secret), disruption: "none", secret, notes: [] };
  });
}

function fieldView(
  field: FieldChange,
  change: Change,
  role: FieldRole,
  names: KindNames,
): Omit<FieldView, "notes"> {
  const secret = field.secret || isSecretPath(change.kind, field.path, names);
  const text = (value: Json | undefined, absent: string): string =>
    secret ? sensitive : value === undefined ? absent : valueText(value, false);
  // The name stays; the object that it names is replaced.
  const isRenewed = !secret && role !== "drifted" && same(field.before, field.after);
  return {
    path: field.path,
    role,
    before: text(field.before, "(not known)"),
    after: `${text(field.after, "(no longer managed)")}${isRenewed ? " (new id after apply)" : ""}`,
    ...(field.source === undefined ? {} : { source: field.source }),
    disruption: field.disruption,
    secret,
  };
}

function notesOf(field: FieldChange, change: Change): readonly string[] {
  const drifted = change.drift.find((drift) => drift.path === field.path);
  const isReverted = same(drifted?.before, field.after);
  const was =
    drifted?.before === undefined || field.secret ? "" : `, was ${valueText(drifted.before, drifted.secret)}`;
  const disruption =
    field.disruption === "none" || field.effect === "replace" ? [] : [field.disruption.replace("-", " ")];
  return [
    ...(field.effect === "replace" ? ["forces replacement"] : disruption),
    ...(field.via === "database" ? ["set by hand, set back in the database"] : []),
    ...(drifted === undefined || field.via === "database" ? [] : [`changed outside${isReverted ? "" : was}`]),
  ];
}

function same(left: Json | undefined, right: Json | undefined): boolean {
  return left !== undefined && right !== undefined && stableJson(left) === stableJson(right);
}
