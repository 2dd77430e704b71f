/** @module Describes the resources of a drift report as groups of blocks. */
import type { Happening, ResourceDrift } from "../../model/drift.ts";
import type { ShownDrift, ShownValue } from "../shown.ts";
import { amount, timeText } from "../words.ts";
import { addressOf, driftField } from "./change-block.ts";
import { fold, ownWords } from "./fold.ts";
import type { BlockView, GroupView, RemarkView, Tone } from "./report-view.ts";

/** The groups, worst first. */
const groups: readonly (Pick<GroupView, "title" | "note" | "tone" | "isMinor"> & {
  readonly what: readonly Happening[];
})[] = [
  { what: ["deleted"], title: "Deleted outside", note: "", tone: "bad" },
  { what: ["failed"], title: "Failed", note: "", tone: "bad" },
  { what: ["stopped", "started"], title: "Stopped or started outside", note: "", tone: "bad" },
  { what: ["changed", "renamed"], title: "Changed outside", note: "", tone: "careful" },
  {
    what: ["unapplied"],
    title: "Not applied yet",
    note: "declared, not brought by an apply: no drift",
    tone: "quiet",
  },
  { what: ["unimportant"], title: "Differs, and does not matter", note: "", tone: "quiet", isMinor: true },
];

export function driftGroups({ resources }: ShownDrift): readonly GroupView[] {
  return groups.flatMap(({ what, ...group }): GroupView[] => {
    const found = resources.filter((resource) => what.includes(resource.what));
    const isOpen = group.tone !== "quiet";
    return found.length === 0 ? [] : [{ ...group, count: found.length, blocks: driftBlocks(found), isOpen }];
  });
}

/** Sign, word and tone of each event. */
const happenings: { readonly [what in Happening]: readonly [sign: string, word: string, tone: Tone] } = {
  deleted: ["-", "deleted", "bad"],
  failed: ["!", "failed", "bad"],
  stopped: ["!", "stopped", "bad"],
  started: ["!", "started", "careful"],
  changed: ["!", "changed", "careful"],
  renamed: ["!", "renamed", "careful"],
  unapplied: ["~", "not applied", "quiet"],
  unimportant: ["=", "does not matter", "quiet"],
};

function driftBlocks(resources: readonly ResourceDrift<ShownValue>[]): readonly BlockView[] {
  const parts = resources.map((resource) => ({
    resource,
    own: ownWords(resource),
    block: blockOf(resource),
    values: resource.fields.map(({ applied, seen, declared }) => [applied, seen, declared]),
  }));
  return fold(parts).map(({ members, block }) => {
    const found = members.map(({ resource }) => resource);
    const fields =
      found.length > 1
        ? block.fields
        : block.fields.map((field, at) => ({ ...field, notes: [...placesOf(found[0], at), ...field.notes] }));
    return {
      ...block,
      reason: `${block.reason}${sinceText(found)}`,
      remarks: [...block.remarks, ...eventsOf(found)],
      fields,
    };
  });
}

function blockOf(resource: ResourceDrift<ShownValue>): BlockView {
  const { kind, what, reason, waysOn, fields } = resource;
  const [sign, word, tone] = happenings[what];
  return {
    ...{ addresses: [addressOf(resource)], kind, word, isChange: false, sign, tone, reason },
    disruption: "none",
    named: what === "deleted",
    remarks: waysOn === undefined ? [] : [{ is: "failed", text: "", remedy: waysOn }],
    fields: fields.map(driftField),
  };
}

/** The place that declares a field: its line, or file and line if that is another file than the resource's. */
function placesOf(resource: ResourceDrift<unknown> | undefined, at: number): readonly string[] {
  const place = resource?.fields[at]?.where;
  if (place === undefined) return [];
  const { file, start } = place;
  return [file === resource?.where?.file ? `line ${start.line}` : `${file}:${start.line}`];
}

/** The time at which resources that were changed outside were last seen right, or the two between which several lie. */
function sinceText(resources: readonly ResourceDrift<unknown>[]): string {
  const times = resources.flatMap((one) => (one.class === "outside" ? (one.since ?? []) : [])).sort();
  const [from, to] = [timeText(times[0] ?? ""), timeText(times.at(-1) ?? "")];
  return times.length === 0 ? "" : `; last seen right ${from === to ? from : `${from} to ${to}`}`;
}

/** Most events of a block. */
const maxEvents = 5;

/** Events of resources as the service tells them, newest first: the first few, and the number of the others. */
function eventsOf(resources: readonly ResourceDrift<unknown>[]): readonly RemarkView[] {
  const found = resources.flatMap(({ events }) => events);
  const events = [...new Map(found.map((event) => [JSON.stringify(Object.entries(event)), event])).values()];
  const newest = events
    .sort((a, b) => (a.time > b.time ? -1 : 1))
    .map(({ time, user, message }) => `${timeText(time)}${user === undefined ? "" : ` ${user}`}: ${message}`);
  const more = newest.length - maxEvents;
  return [...newest.slice(0, maxEvents), ...(more > 0 ? [`and ${amount(more, "earlier event")}`] : [])].map(
    (text) => ({ is: "event", text }),
  );
}
