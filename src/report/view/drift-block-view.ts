/** @module Folds equal drift of many resources into one block. */

import type { AuditEvent, DriftClass, FieldDrift, Happening, ResourceDrift } from "../../model/drift.ts";
import { defined } from "../../model/json.ts";
import { type ShownValue, sameShown } from "../shown-value.ts";
import { sourceNote } from "../words.ts";
import type { AddressView } from "./block-view.ts";
import { type FieldView, newId } from "./field-view.ts";
import { type Folded, fold } from "./fold.ts";
import { ownWords } from "./own-words.ts";

/** One resource that differs, or several in which the same has happened. In a block of several their ids stand as `ID`. */
export interface DriftBlockView {
  /** Sorted by address; at least one. */
  readonly addresses: readonly AddressView[];
  readonly kind: string;
  readonly class: DriftClass;
  readonly what: Happening;
  readonly reason: string;
  /** The ways on from resources that have failed. */
  readonly waysOn?: string;
  /** The earliest and the latest time at which one of them was last seen right. */
  readonly since?: readonly [earliest: string, latest: string];
  /** What the service says of them, newest first: of many resources the first few. */
  readonly events: readonly AuditEvent[];
  /** Number of events that are left out. */
  readonly moreEvents: number;
  /** In a block of one each field has its place among its notes. */
  readonly fields: readonly DriftFieldView[];
}

/** Most events of a block. */
const mostEvents = 5;

/** The blocks of these resources, each where its first resource was. */
export function driftBlocks(resources: readonly ResourceDrift<ShownValue>[]): readonly DriftBlockView[] {
  return fold(resources, (resource) => ({
    own: ownWords(resource),
    shape: [resource.kind, resource.class, resource.what, resource.reason, resource.waysOn],
    fields: resource.fields.map(driftFieldView),
    values: resource.fields.map(({ applied, seen, declared }) => [applied, seen, declared]),
  })).flatMap(blockOf);
}

function blockOf({
  members,
  fields,
  sentence,
}: Folded<ResourceDrift<ShownValue>, DriftFieldView>): readonly DriftBlockView[] {
  const [first, ...others] = members;
  if (first === undefined) return [];
  const times = members.flatMap(({ since }) => since ?? []).sort();
  const [earliest, latest] = [times[0], times.at(-1)];
  const events = new Map(
    members.flatMap((member) => member.events).map((event) => [JSON.stringify(Object.entries(event)), event]),
  );
  const newest = [...events.values()].sort((a, b) => (a.time > b.time ? -1 : 1));
  const { kind, class: is, what } = first;
  return [
    {
      addresses: members.map(addressOf).sort((left, right) => (left.address < right.address ? -1 : 1)),
      ...{ kind, class: is, what },
      reason: sentence(({ reason }) => reason),
      ...(first.waysOn === undefined ? {} : { waysOn: sentence(({ waysOn = "" }) => waysOn) }),
      events: newest.slice(0, mostEvents),
      moreEvents: Math.max(0, newest.length - mostEvents),
      ...(is !== "outside" || earliest === undefined || latest === undefined
        ? {}
        : { since: [earliest, latest] as const }),
      fields: others.length > 0 ? fields : fields.map((field, at) => withPlace(field, first, at)),
    },
  ];
}

function addressOf({ address, id, where }: ResourceDrift<unknown>): AddressView {
  return {
    address,
    ...defined({ id }),
    ...(where === undefined ? {} : { where: { file: where.file, line: where.start.line } }),
  };
}

/** A field with the place that declares it among its notes. */
function withPlace(
  field: DriftFieldView,
  { fields, where }: ResourceDrift<unknown>,
  at: number,
): DriftFieldView {
  const place = fields[at]?.where;
  if (place === undefined) return field;
  const { file, start } = place;
  return {
    ...field,
    notes: [file === where?.file ? `line ${start.line}` : `${file}:${start.line}`, ...field.notes],
  };
}

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
