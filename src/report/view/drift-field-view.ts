/** @module Describes the fields of a resource that differ from the last apply for people. */
import type { FieldDrift } from "../../model/drift.ts";
import { type ShownValue, sameShown } from "../shown-value.ts";
import { sourceNote } from "../source-words.ts";
import { type FieldView, newId } from "./field-view.ts";

/** A field that differs. The notes do not name its place, so that fields of several resources can be compared. */
export interface DriftFieldView extends FieldView {
  readonly class: FieldDrift["class"];
}

/** One field: applied and seen where the world has changed, seen and declared where the manifest has. */
export function driftFieldView(field: FieldDrift<ShownValue>): DriftFieldView {
  const { path, applied, seen, declared, remedy, secret } = field;
  const isOurs = field.class === "ours";
  const source = field.source === "recorded" ? undefined : field.source;
  const [before, after] = isOurs ? [seen ?? applied, declared] : [applied, seen];
  // The name stays; the object that it names is replaced.
  const isRenewed = isOurs && sameShown(before, after);
  const sourceOf = source === undefined ? {} : isOurs ? { source } : { afterSource: source };
  return {
    path,
    class: field.class,
    role: isOurs ? "changed" : "drifted",
    before: before?.text ?? "(none)",
    after: `${after?.text ?? "(none)"}${isRenewed ? newId : ""}`,
    ...sourceOf,
    disruption: remedy?.disruption ?? "none",
    secret,
    notes: notesOf(field),
  };
}

/** One field on one line: `config.name: "orders" → "renamed" (echoed back)`. Notes are not escaped. */
export function driftFieldText({ path, before, after, source, afterSource, notes }: DriftFieldView): string {
  const note = notes.length === 0 ? "" : `, ${notes.join(", ")}`;
  return `${path}: ${before ?? ""}${sourceNote(source)} → ${after}${sourceNote(afterSource)}${note}`;
}

function notesOf({
  class: is,
  reason,
  applied,
  declared,
  secret,
}: FieldDrift<ShownValue>): readonly string[] {
  const isThird = is === "outside" && !secret && declared !== undefined && applied !== undefined;
  const isOther = isThird && declared.text !== applied.text;
  const isPlain = reason === "changed outside" || reason === "changed in the manifest";
  return [...(isOther ? [`declared ${declared.text}`] : []), ...(isPlain ? [] : [reason])];
}
