/** @module Turns a drift report into what every report for people says of it. */
import { parseAddress } from "../../model/address.ts";
import {
  countUnread,
  type DriftClass,
  type DriftReport,
  type Happening,
  hasDrift,
  type ResourceDrift,
} from "../../model/drift.ts";
import { shellWord } from "../../model/errors.ts";
import { passwordRefused } from "../../model/probe.ts";
import type { RedactedDrift, RedactedValue } from "../redact.ts";
import { quoteText } from "../typeset.ts";
import { amount, type KindNames, timeText } from "../words.ts";
import { censusView, incompleteText, reasonTexts } from "./census-view.ts";
import { addressOf, driftField } from "./change-block.ts";
import { fold, ownWords } from "./fold.ts";
import {
  type BlockView,
  escaped,
  type GroupView,
  type ListView,
  type NextView,
  type RemarkView,
  type ReportView,
  type Tone,
} from "./report-view.ts";

export function driftView(report: RedactedDrift, names: KindNames): ReportView {
  const { name, timestamp, complete, census, outputs } = report;
  const { outside, ours, cosmetic } = countDrift(report);
  const undeclared = report.unmanaged?.length ?? 0;
  const unread = countUnread(census);
  const remedies = remediesOf(report);
  const looked = censusView(census);
  const view = escaped<ReportView>({
    report: "drift",
    title: "Drift of",
    ...{ name, timestamp, remedies },
    incomplete: complete ? "" : incompleteText(census, unread),
    verdict: verdictOf(report, outside, undeclared),
    tone: hasDrift(report) ? "careful" : "good",
    seen: seenText(report),
    next: remedies.find(({ command }) => command !== undefined) ?? { text: "" },
    whole: "graphform drift --json",
    counts: [
      { count: outside, word: "changed outside", tone: "bad" },
      { count: undeclared, word: "not declared", tone: "careful" },
      { count: ours, word: "not applied yet", tone: "quiet" },
      { count: cosmetic, word: "unimportant", tone: "quiet" },
    ],
    affected: [],
    groups: driftGroups(report),
    lists: listsOf(report, names).filter(({ items }) => items.length > 0),
    outputs: outputs.map(({ name: path, applied, seen }) => ({
      ...{ path, role: "changed", notes: ["recorded by the next apply"] },
      before: applied?.text ?? "(none)",
      after: seen?.text ?? "(none)",
    })),
    imports: [],
    census: {
      ...looked,
      unsure: [
        ...reasonTexts("not checked:", census.notChecked, namedUnsure),
        ...reasonTexts("not at rest:", census.unfinished, namedUnsure).map(
          (text) => `${text}; look again when it is`,
        ),
      ],
    },
    impact: "",
    disruption: [],
    path: [],
    closing: closingOf(ours, cosmetic, unread),
    summary: "",
    fingerprint: "",
  });
  return { ...view, name };
}

/** Resources that are named of those that a text is not sure of for one reason. */
const namedUnsure = 10;

/**
 * Counts the resources that were changed outside and those with changes of ours that are not applied, cosmetic fields and outputs, and the
 * values that were seen in this run or are only remembered from the last apply.
 */
export function countDrift({
  resources,
  outputs,
  census,
}: DriftReport<unknown>): Readonly<Record<DriftClass | "seen" | "remembered", number>> {
  const fields = resources.flatMap((resource) => resource.fields);
  const { probed, described, echoed, recorded } = census.fields;
  const count = (is: (one: (typeof resources)[number]) => boolean): number => resources.filter(is).length;
  const cosmetic = fields.filter((field) => field.class === "cosmetic").length + outputs.length;
  return {
    outside: count((one) => one.class === "outside"),
    ours: count((one) => one.class === "ours" || one.fields.some((field) => field.class === "ours")),
    cosmetic: cosmetic + count((one) => one.class === "cosmetic" && one.fields.length === 0),
    seen: probed + described + echoed,
    remembered: recorded,
  };
}

function verdictOf(report: RedactedDrift, outside: number, undeclared: number): string {
  if (!hasDrift(report)) return `No drift found${report.complete ? "" : " in what was checked"}.`;
  const also = undeclared === 0 ? "" : `, ${undeclared} not declared`;
  return `Drift: ${amount(outside, "resource")} changed outside${also}.`;
}

function seenText(report: RedactedDrift): string {
  const { seen, remembered } = countDrift(report);
  const looked = `${seen} of ${amount(seen + remembered, "value")} ${seen === 1 ? "was" : "were"} seen`;
  if (remembered === 0) return `${looked}.`;
  return `${looked}; ${remembered} ${remembered === 1 ? "is" : "are"} only remembered from the last apply.`;
}

function closingOf(ours: number, cosmetic: number, unread: number): ReportView["closing"] {
  const does = cosmetic === 1 ? "does" : "do";
  const also = [
    ...(ours === 0 ? [] : [`${amount(ours, "resource")} with changes that are not applied yet`]),
    ...(cosmetic === 0 ? [] : [`${amount(cosmetic, "difference")} that ${does} not matter (--verbose)`]),
  ];
  const [count, them] = unread === 1 ? ["One thing", "it"] : [`${unread} things`, "them"];
  const proven = `${count} could not be read: this proves nothing about ${them} (exit code 1).`;
  return [
    ...(also.length === 0 ? [] : [{ tone: "plain" as const, text: `Also: ${also.join(", ")}.` }]),
    ...(unread === 0 ? [] : [{ tone: "bad" as const, text: proven }]),
  ];
}

/** The remedy of objects that are not declared. */
export const undeclaredRemedy =
  "declare it and bind it with graphform import ADDRESS ID, or delete it at the service";

function listsOf({ unmanaged = [], census }: RedactedDrift, names: KindNames): readonly ListView[] {
  const unsure = (is: string, entries: DriftReport["census"]["unfinished"]): ListView["items"] =>
    entries.map(({ address, reason }) => ({ is, name: address, text: reason }));
  return [
    {
      title: "Not declared",
      items: unmanaged.map(({ kind, id, name }) => ({
        is: "not declared",
        name: `${names.find(kind)?.noun ?? kind} ${id}`,
        text: name === undefined ? "" : quoteText(name, 100),
      })),
      remedy: undeclaredRemedy,
      isOpen: true,
    },
    {
      title: "Not checked, or not at rest",
      items: [...unsure("not checked", census.notChecked), ...unsure("not at rest", census.unfinished)],
      isOpen: false,
    },
  ];
}

/** Events that apply undoes. */
const undone: readonly Happening[] = ["deleted", "failed", "stopped", "started"];

/** The remedies of drift, once for all resources that were changed outside; the first of their fields is the example. */
function remediesOf({ resources, adoptable }: DriftReport<unknown>): readonly NextView[] {
  const outside = resources.filter((resource) => resource.class === "outside");
  const fields = outside
    .filter(({ what }) => what !== "failed")
    .flatMap(({ address, fields: all }) => all.map((entry) => ({ address, ...entry })))
    .filter((entry) => entry.class === "outside");
  const taken = adoptable ?? fields.find((entry) => !entry.secret && entry.fixed !== true);
  const isPutBack =
    fields.some(({ remedy }) => remedy !== undefined) || outside.some(({ what }) => undone.includes(what));
  const undeclared = outside
    .filter(({ what }) => what === "deleted")
    .map(({ address }) =>
      parseAddress(address)?.key === undefined ? "remove the block" : "take its entry out of forEach",
    );
  const command = taken && `graphform drift --adopt ${shellWord(`${taken.address}.${taken.path}`)}`;
  const remedies: NextView[] = [];
  const putBack = "shows what putting it back takes; graphform apply does it";
  if (isPutBack) remedies.push({ command: "graphform plan", text: putBack });
  if (fields.some(({ remedy }) => remedy === undefined))
    remedies.push({ text: "apply leaves a field as it is if its line names a command" });
  const rotated = "a password was rotated on purpose: put the new one into its secret, and look again";
  if (fields.some(({ reason }) => reason.startsWith(passwordRefused))) remedies.push({ text: rotated });
  if (command) remedies.push({ command, text: "writes the live value into the manifest" });
  for (const words of new Set(undeclared))
    remedies.push({ text: `deleted, and that is meant: ${words}, or list the address under removed` });
  return remedies;
}

/** The groups, worst first. */
const groups: readonly (Pick<GroupView, "title" | "note" | "tone" | "isMinor"> & {
  readonly what: readonly Happening[];
})[] = [
  { what: ["deleted"], title: "Deleted outside", note: "", tone: "bad" },
  { what: ["failed"], title: "Failed", note: "", tone: "bad" },
  { what: ["stopped", "started"], title: "Stopped or started outside", note: "", tone: "bad" },
  { what: ["changed", "renamed"], title: "Changed outside", note: "", tone: "careful" },
  { what: ["unapplied"], title: "Not applied yet", note: "declared, not applied: no drift", tone: "quiet" },
  { what: ["unimportant"], title: "Differs, and does not matter", note: "", tone: "quiet", isMinor: true },
];

function driftGroups({ resources }: RedactedDrift): readonly GroupView[] {
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

function driftBlocks(resources: readonly ResourceDrift<RedactedValue>[]): readonly BlockView[] {
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

function blockOf(resource: ResourceDrift<RedactedValue>): BlockView {
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
