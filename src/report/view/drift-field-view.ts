/** @module Describes the fields of a resource that differ from the last apply for people. */
import type { FieldDrift, ResourceDrift } from "../../model/drift.ts";
import type { Json } from "../../model/json.ts";
import { isSecretPath, type KindNames } from "../kind-words.ts";
import { sourceNote } from "../source-words.ts";
import { sensitive, valueText } from "../value-text.ts";
import type { FieldView } from "./field-view.ts";

/** A field that differs. The notes do not name its place, so that fields of several resources can be compared. */
export interface DriftFieldView extends FieldView {
  readonly class: FieldDrift["class"];
}

/** One field: applied and seen where the world has changed, seen and declared where the manifest has. */
export function driftFieldView(field: FieldDrift, { kind }: ResourceDrift, names: KindNames): DriftFieldView {
  const { path, applied, seen, declared, remedy } = field;
  const secret = field.secret || isSecretPath(kind, path, names);
  const text = (value: Json | undefined): string =>
    value === undefined ? "(none)" : secret ? sensitive : valueText(value, false);
  const isOurs = field.class === "ours";
  const source = field.source === "recorded" ? undefined : field.source;
  const sourceOf = source === undefined ? {} : isOurs ? { source } : { afterSource: source };
  return {
    path,
    class: field.class,
    role: isOurs ? "changed" : "drifted",
    before: text(isOurs ? (seen ?? applied) : applied),
    after: text(isOurs ? declared : seen),
    ...sourceOf,
    disruption: remedy?.disruption ?? "none",
    secret,
    notes: notesOf(field, secret),
  };
}

/** One field on one line: `config.name: "orders" → "renamed" (echoed back)`. Notes are not escaped. */
export function driftFieldText({ path, before, after, source, afterSource, notes }: DriftFieldView): string {
  const note = notes.length === 0 ? "" : `, ${notes.join(", ")}`;
  return `${path}: ${before ?? ""}${sourceNote(source)} → ${after}${sourceNote(afterSource)}${note}`;
}

function notesOf({ class: is, reason, applied, declared }: FieldDrift, secret: boolean): readonly string[] {
  const isThird = is === "outside" && !secret && declared !== undefined && applied !== undefined;
  const wanted = isThird ? valueText(declared, false) : "";
  const isOther = isThird && wanted !== valueText(applied, false);
  const isPlain = reason === "changed outside" || reason === "changed in the manifest";
  return [...(isOther ? [`declared ${wanted}`] : []), ...(isPlain ? [] : [reason])];
}
