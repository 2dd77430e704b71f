/** @module Describes the fields of a change for people: before, after, source, effect and notes. */

import type { Disruption } from "../../model/field-schema.ts";
import { defined } from "../../model/json.ts";
import type { Source } from "../../model/observed.ts";
import type { Change, FieldChange, OutputChange } from "../../model/plan.ts";
import { sensitive } from "../../model/sealed.ts";
import type { ShownPlan } from "../shown.ts";
import { knownAfterApply, type ShownValue, sameShown, shownFields } from "../shown-value.ts";

/** Kind of a field row: `new` of a resource that is created, `changed`, `replaces` what cannot be changed, `drifted` and left. */
export type FieldRole = "new" | "changed" | "replaces" | "drifted";

/** One field of a change. Values are the texts of `ShownValue`: quoted, secrets as `(sensitive)`, control characters visible. */
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
export function fieldsOf(change: Change<ShownValue>): readonly FieldView[] {
  if (change.action === "create") return newFields(change);
  const forcing = change.fields.filter((field) => field.effect === "replace");
  const others = change.fields.filter((field) => field.effect !== "replace");
  return [...forcing, ...others].map((field) => {
    const role = field.effect === "replace" ? "replaces" : "changed";
    return { ...fieldView(field, role), notes: notesOf(field, change) };
  });
}

/** The note on what was changed outside where apply does not undo it. */
export const leftAsIs = "changed outside, left as it is";

/** The fields that were changed outside and that the change leaves as they are. */
export function driftedFields(change: Change<ShownValue>): readonly FieldView[] {
  const shown = new Set(change.fields.map((field) => field.path));
  return change.drift
    .filter((field) => !shown.has(field.path))
    .map((field) => ({
      ...fieldView(field, "drifted"),
      notes: [field.wayOut ?? leftAsIs],
    }));
}

/** Fields that a binding takes from the manifest: the service does not show them, so they were not checked. */
export function uncheckedFields({ action, before, after }: Change<ShownValue>): readonly string[] {
  if (action !== "adopt") return [];
  const seen = new Set(shownFields(before).map(([path]) => path));
  return shownFields(after).flatMap(([path]) => (seen.has(path) ? [] : [path]));
}

function newFields({ after }: Change<ShownValue>): readonly FieldView[] {
  return shownFields(after).map(([path, { text, sensitive }]) => ({
    path,
    role: "new",
    after: text,
    disruption: "none",
    secret: sensitive === true,
    notes: [],
  }));
}

/** Follows the name of an object that is replaced by another of that name. */
export const newId = " (new id after apply)";

function fieldView(field: FieldChange<ShownValue>, role: FieldRole): Omit<FieldView, "notes"> {
  const { path, before, after, source, disruption, secret } = field;
  // The name stays; the object that it names is replaced.
  const isRenewed = role !== "drifted" && sameShown(before, after);
  return {
    path,
    role,
    before: before?.text ?? (secret ? sensitive : "(not known)"),
    after: `${after?.text ?? (secret ? sensitive : "(no longer managed)")}${isRenewed ? newId : ""}`,
    ...defined({ source }),
    disruption,
    secret,
  };
}

function notesOf(field: FieldChange<ShownValue>, change: Change<ShownValue>): readonly string[] {
  const drifted = change.drift.find((drift) => drift.path === field.path);
  const isReverted = sameShown(drifted?.before, field.after);
  const was = drifted?.before === undefined || field.secret ? "" : `, was ${drifted.before.text}`;
  const disruption =
    field.disruption === "none" || field.effect === "replace" ? [] : [field.disruption.replace("-", " ")];
  return [
    ...(field.effect === "replace" ? ["forces replacement"] : disruption),
    ...(field.via === "database" ? ["set by hand, set back in the database"] : []),
    ...(drifted === undefined || field.via === "database" ? [] : [`changed outside${isReverted ? "" : was}`]),
  ];
}

/** One output. Values are the texts of `ShownValue`. */
export interface OutputView {
  readonly name: string;
  readonly action: "create" | "update" | "delete" | "missing";
  readonly before?: string;
  readonly after: string;
  /** Says why there is no value, where it is missing. */
  readonly note?: string;
}

/** The outputs that a plan changes or cannot read, sorted by name. */
export function outputsOf({ outputs }: Pick<ShownPlan, "outputs">): readonly OutputView[] {
  return Object.entries(outputs)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, output]) => outputOf(name, output) ?? []);
}

function outputOf(name: string, output: OutputChange<ShownValue>): OutputView | undefined {
  const { action, before, after, unknown, missing } = output;
  const text = (value: ShownValue | undefined): string => value?.text ?? "(none)";
  if (action === "delete") return { name, action, before: text(before), after: "(removed)" };
  if (missing !== undefined) {
    return {
      name,
      action: "missing",
      after: before === undefined ? "(not known)" : text(before),
      note: missing,
    };
  }
  const next = unknown && after === undefined ? knownAfterApply : text(after);
  if (action === "create") return { name, action, after: next };
  return action === "update" ? { name, action, before: text(before), after: next } : undefined;
}
