/** @module Describes fields and outputs for people: before, after, sources and notes. */
import type { FieldDrift } from "../../model/drift.ts";
import { defined } from "../../model/json.ts";
import type { Change, FieldChange, OutputChange } from "../../model/plan.ts";
import { sensitive } from "../../model/sealed.ts";
import type { ShownPlan } from "../shown.ts";
import { knownAfterApply, type ShownValue, sameShown, shownFields } from "../shown-value.ts";
import { sourceNote } from "../words.ts";
import type { FieldRole, FieldView } from "./report-view.ts";

/** The note on what was changed outside if apply does not undo it. */
export const leftAsIs = "changed outside, left as it is";

/** The fields that a change sets, those that force a replacement first, and those that were changed outside and stay; of a new resource all. */
export function fieldsOf(change: Change<ShownValue>): readonly FieldView[] {
  if (change.action === "create") {
    const fields = shownFields(change.after);
    return [
      ...fields.map(([path, { text }]): FieldView => ({ path, role: "new", after: text, notes: [] })),
      ...driftedFields(change),
    ];
  }
  const rank = ({ effect }: FieldChange<ShownValue>): number => (effect === "replace" ? 0 : 1);
  return [
    ...change.fields.toSorted((a, b) => rank(a) - rank(b)).map((field) => changedField(field, change)),
    ...driftedFields(change),
  ];
}

/** One field that a change sets. */
export function changedField(field: FieldChange<ShownValue>, change: Change<ShownValue>): FieldView {
  const role = field.effect === "replace" ? "replaces" : "changed";
  return { ...fieldView(field, role), notes: notesOf(field, change) };
}

/** The fields that were changed outside and that the change leaves as they are. */
export function driftedFields({ fields, drift }: Change<ShownValue>): readonly FieldView[] {
  const set = new Set(fields.map(({ path }) => path));
  return drift
    .filter(({ path }) => !set.has(path))
    .map((field) => ({ ...fieldView(field, "drifted"), notes: [field.wayOut ?? leftAsIs] }));
}

/** Follows the name of an object that is replaced by another of that name. */
const newId = " (new id after apply)";

function fieldView(field: FieldChange<ShownValue>, role: FieldRole): Omit<FieldView, "notes"> {
  const { path, before, after, source, secret } = field;
  // The name stays; the object that it names is replaced.
  const isRenewed = role !== "drifted" && sameShown(before, after);
  return {
    path,
    role,
    before: before?.text ?? (secret ? sensitive : "(not known)"),
    after: `${after?.text ?? (secret ? sensitive : "(no longer managed)")}${isRenewed ? newId : ""}`,
    ...(secret ? {} : defined({ source })),
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

const driftRoles = { outside: "drifted", ours: "unapplied", cosmetic: "unimportant" } as const;

/** One field of a drift report: applied and seen if the world has changed, seen and declared if the manifest has. */
export function driftField(field: FieldDrift<ShownValue>): FieldView {
  const { path, class: is, reason, applied, seen, declared, secret } = field;
  const source = secret || field.source === "recorded" ? undefined : field.source;
  const isOurs = is === "ours";
  const [before, after] = isOurs ? [seen ?? applied, declared] : [applied, seen];
  const isRenewed = isOurs && sameShown(before, after);
  const isThird = is === "outside" && !secret && declared !== undefined && applied !== undefined;
  const isPlain = reason === "changed outside" || reason === "changed in the manifest";
  return {
    path,
    role: driftRoles[is],
    before: before?.text ?? "(none)",
    after: `${after?.text ?? "(none)"}${isRenewed ? newId : ""}`,
    ...defined(isOurs ? { source } : { afterSource: source }),
    notes: [
      ...(isThird && declared.text !== applied.text ? [`declared ${declared.text}`] : []),
      ...(isPlain ? [] : [reason]),
    ],
  };
}

/** One field on one line: `config.name: "orders" → "renamed" (echoed back), declared "third"`. */
export function fieldText({ path, before, after, source, afterSource, notes }: FieldView): string {
  const from = before === undefined ? "" : `${before}${sourceNote(source)} → `;
  return [`${path}: ${from}${after}${sourceNote(afterSource)}`, ...notes].join(", ");
}

/** The outputs that a plan changes or cannot read, sorted by name. */
export function outputsOf({ outputs }: Pick<ShownPlan, "outputs">): readonly FieldView[] {
  return Object.entries(outputs)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, output]) => outputOf(name, output) ?? []);
}

function outputOf(path: string, output: OutputChange<ShownValue>): FieldView | undefined {
  const { action, before, after, unknown, missing } = output;
  const text = (value: ShownValue | undefined): string => value?.text ?? "(none)";
  const notes: readonly string[] = [];
  if (action === "delete") return { path, role: "removed", before: text(before), after: "(removed)", notes };
  if (missing !== undefined)
    return { path, role: "drifted", after: before?.text ?? "(not known)", notes: [missing] };
  const next = unknown && after === undefined ? knownAfterApply : text(after);
  if (action === "create") return { path, role: "new", after: next, notes };
  return action === "update"
    ? { path, role: "changed", before: text(before), after: next, notes }
    : undefined;
}
