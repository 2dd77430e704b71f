/** @module Turns a plan into what every report for people says of it. */
import { byAddress } from "../../model/address.ts";
import { shellWord } from "../../model/errors.ts";
import { disruptions } from "../../model/field-schema.ts";
import type { Json } from "../../model/json.ts";
import type { Change, Plan } from "../../model/plan.ts";
import { nextOf, planLine, summarize, toneOf, verdictOf } from "../plan-summary.ts";
import type { RedactedPlan } from "../redact.ts";
import { escapeJson, escapeText } from "../typeset.ts";
import { aboutTime, amount } from "../words.ts";
import { censusView, incompleteText } from "./census-view.ts";
import { changeBlocks, noteBlocks, outputsOf } from "./change-block.ts";
import {
  type AffectedView,
  type CountView,
  type DisruptionSum,
  escaped,
  type GroupView,
  type ReportView,
} from "./report-view.ts";

export interface PlanViewOptions {
  /** File of the saved plan, if it was saved. */
  readonly planFile?: string | undefined;
  /** Command that carries the plan out if it was not saved. */
  readonly command?: "apply" | "destroy";
}

export function planView(
  plan: RedactedPlan,
  { planFile, command = "apply" }: PlanViewOptions = {},
): ReportView {
  const { name, timestamp, fingerprint, serial, complete, census, forecast } = plan;
  const tone = toneOf(plan);
  const notes = noteBlocks(plan.changes, command);
  const disruption = disruptionOf(plan);
  const view = escaped<ReportView>({
    report: "plan",
    title: "Plan for",
    ...{ name, timestamp, fingerprint, serial, tone, disruption },
    incomplete: complete ? "" : incompleteText(census),
    verdict: verdictOf(plan),
    seen: "",
    next: nextOf(plan, planFile, command),
    whole:
      planFile === undefined
        ? `graphform plan ${command === "destroy" ? "--destroy " : ""}--json`
        : `graphform show ${shellWord(planFile)} --json`,
    counts: countsOf(plan),
    affected: affectedBy(plan),
    groups: [
      ...groupChanges(plan.changes).map(({ title, note, tone, changes }) => ({
        ...{ title, note, tone, count: changes.length, blocks: changeBlocks(plan.steps, changes) },
        isOpen: tone === "bad" || changes.some((change) => change.disruption !== "none"),
      })),
      {
        title: "Not ready, changed outside, or kept",
        note: "",
        tone: "careful" as const,
        blocks: notes,
        count: notes.reduce((sum, { addresses }) => sum + addresses.length, 0),
        ...{ isOpen: false, isTight: true as const },
      },
    ].filter(({ count }) => count > 0),
    lists: [],
    outputs: outputsOf(plan),
    imports: [],
    remedies: [],
    census: censusView(census),
    impact: tone === "good" ? "" : impactOf(plan, disruption),
    path: forecast.path ?? [],
    closing: closingOf(plan, command),
    summary: planLine(summarize(plan)),
  });
  // Lines to be copied: none may be cut.
  return { ...view, name, imports: importLines(plan) };
}

/** Most addresses that a text names of those that are disrupted in one way. */
export const maxNamed = 500;

/** Everything that an apply of the plan disrupts, worst first. */
export function affectedBy(plan: Plan<unknown>): readonly AffectedView[] {
  return groupChanges(plan.changes)
    .filter(({ named }) => named === true)
    .map(({ title, note, tone, changes }) => ({
      ...{ title, note, tone },
      addresses: changes.map(({ address }) => address).sort(),
    }));
}

/** The numbers of a plan; `gone` is left out if it is 0. */
function countsOf(plan: RedactedPlan): readonly CountView[] {
  const { gone, blocked, destroy, change, add, adopt, move, forget } = summarize(plan);
  const counts: readonly CountView[] = [
    { count: gone, word: "gone", tone: "bad" },
    { count: blocked, word: "blocked", tone: "bad" },
    { count: destroy, word: "to destroy", tone: "bad" },
    { count: change, word: "to change", tone: "careful" },
    { count: add, word: "to add", tone: "good" },
    { count: adopt, word: "to adopt", tone: "quiet" },
    { count: move, word: "to move", tone: "quiet" },
    { count: forget, word: "to forget", tone: "quiet" },
  ];
  return gone === 0 ? counts.slice(1) : counts;
}

function disruptionOf({ changes }: RedactedPlan): readonly DisruptionSum[] {
  const changed = changes.filter(({ action }) => action !== "keep");
  return disruptions.toReversed().flatMap((disruption) => {
    const found = changed.filter((change) => change.disruption === disruption);
    const blocked = found.filter((change) => change.blocked.length > 0).length;
    return found.length === 0 ? [] : [{ disruption, count: found.length - blocked, blocked }];
  });
}

function impactOf({ forecast }: RedactedPlan, sums: readonly DisruptionSum[]): string {
  const { restarts, replacements, seconds } = forecast;
  const held = sums.filter(({ disruption, blocked }) => disruption !== "none" && blocked > 0);
  return [
    amount(restarts, "restart"),
    amount(replacements, "replacement"),
    ...held.map(({ disruption, blocked }) => `${blocked} with ${disruption.replace("-", " ")} blocked`),
    aboutTime(seconds),
  ].join(", ");
}

/** Facts to know before apply. */
function closingOf(plan: RedactedPlan, command: string): ReportView["closing"] {
  const { adopt, move, forget, blocked } = summarize(plan);
  const also = Object.entries({ adopt, move, forget }).filter(([, count]) => count > 0);
  const all = plan.changes.filter(({ action }) => action !== "keep").length;
  const rest = blocked === all ? "does nothing" : "carries out the rest";
  const are = blocked === 1 ? "is" : "are";
  const sentences = [
    ["plain", also.length > 0, `Also: ${also.map(([verb, count]) => `${count} to ${verb}`).join(", ")}.`],
    ["bad", blocked > 0, `${blocked} of these ${are} blocked: ${command} ${rest} and exits 4.`],
    ["good", toneOf(plan) === "good", [verdictOf(plan), ...unproven(plan)].join(" ")],
  ] as const;
  return sentences.flatMap(([tone, isSaid, text]) => (isSaid ? [{ tone, text }] : []));
}

/** Sentences on values that were not compared, as the service does not show them, and on resources that are not at rest. */
function unproven({ changes, census }: RedactedPlan): readonly string[] {
  const { recorded, ...read } = census.fields;
  const all = recorded + read.probed + read.described + read.echoed;
  const notChecked =
    recorded === 1 ? "is as last applied or imported and was" : "are as last applied or imported and were";
  const count = (is: string): number => changes.filter(({ phase }) => phase?.is === is).length;
  const [pending, waiting, failed] = [count("pending"), count("waiting-for-person"), count("failed")];
  const [are, wait] = [pending === 1 ? "is" : "are", waiting === 1 ? "waits" : "wait"];
  const sentences = [
    [recorded, `${recorded} of ${amount(all, "value")} ${notChecked} not checked.`],
    [pending, `${amount(pending, "operation")} ${are} still running; apply will wait.`],
    [waiting, `${amount(waiting, "resource")} ${wait} for a person.`],
    [failed, `${amount(failed, "resource")} failed.`],
  ] as const;
  return sentences.flatMap(([number, text]) => (number === 0 ? [] : [text]));
}

interface Group<Value> extends Pick<GroupView, "title" | "note" | "tone"> {
  /** True if every report names each resource: it loses data, is replaced or interrupted. */
  readonly named?: true;
  readonly changes: readonly Change<Value>[];
}

const groups: readonly (Omit<Group<unknown>, "changes"> & {
  readonly matches: (change: Change<unknown>) => boolean;
})[] = [
  {
    title: "Gone",
    note: "deleted outside graphform; data that only they had is lost",
    tone: "bad",
    named: true,
    matches: (change) => change.gone === true,
  },
  {
    title: "Blocked",
    note: "a guard refuses these until it is lifted",
    tone: "bad",
    matches: (change) => change.blocked.length > 0,
  },
  {
    title: "Data loss",
    note: "the data of these is lost",
    tone: "bad",
    named: true,
    matches: (change) => change.disruption === "data-loss",
  },
  {
    title: "Replaced and deleted",
    note: "no data is lost",
    tone: "bad",
    named: true,
    matches: (change) => change.action === "replace" || change.action === "delete",
  },
  {
    title: "Data moved",
    note: "to a new database; no data is lost",
    tone: "careful",
    named: true,
    matches: (change) => change.action === "migrate",
  },
  {
    title: "Restarts",
    note: "connections are cut for a while",
    tone: "careful",
    named: true,
    matches: (change) => change.disruption === "restart" || change.disruption === "downtime",
  },
  {
    title: "Quiet updates",
    note: "in place, without an interruption",
    tone: "careful",
    matches: (change) =>
      change.action === "update" || (change.action === "adopt" && change.fields.length > 0),
  },
  { title: "New", note: "", tone: "good", matches: (change) => change.action === "create" },
  {
    title: "Bindings",
    note: "only the state changes",
    tone: "quiet",
    matches: (change) => change.action !== "keep",
  },
];

/** Groups changes, worst first. Each is in the first group that matches; unchanged resources are in none. */
function groupChanges<Value>(changes: readonly Change<Value>[]): readonly Group<Value>[] {
  const left = new Set(changes.filter((change) => change.action !== "keep"));
  return groups.flatMap(({ matches, ...group }): readonly Group<Value>[] => {
    const found = [...left].filter(matches);
    for (const change of found) left.delete(change);
    return found.length === 0 ? [] : [{ ...group, changes: found.sort(worseFirst) }];
  });
}

function worseFirst(a: Change<unknown>, b: Change<unknown>): number {
  const worse = disruptions.indexOf(b.disruption) - disruptions.indexOf(a.disruption);
  return worse === 0 ? byAddress(a, b) : worse;
}

/** The section `imports` for all that may be there already. An entry is a comment if several objects, or several resources, match. */
function importLines({ changes }: Pick<RedactedPlan, "changes">): readonly string[] {
  const mayBe = changes
    .flatMap(({ address, action, kind, mayBe: found }) =>
      found === undefined || action !== "create" ? [] : [{ address, kind, ...found }],
    )
    .sort(byAddress);
  const uses = Map.groupBy(mayBe, ({ kind, ids }) => `${kind} ${ids[0]}`);
  const lines = mayBe.map(({ address, kind, ids, count }) => {
    const [id = ""] = ids;
    const isSure = count === 1 && uses.get(`${kind} ${id}`)?.length === 1;
    if (isSure) return `  ${importEntry(address, id)}`;
    const more = count > ids.length ? ` and ${count - ids.length} more` : "";
    return `  # ${importEntry(address, "ID")} # may be ${escapeText(ids.join(", "), 300)}${more}`;
  });
  return lines.length === 0 ? [] : ["imports:", ...lines];
}

export function importEntry(address: string, id: string): string {
  return `- { address: ${yamlScalar(address)}, id: ${yamlScalar(id)} }`;
}

/** A value in YAML: plain if that is safe, otherwise quoted as in JSON. `${` is escaped, so it is no expression. */
export function yamlScalar(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const text = value.replaceAll("${", () => "$${");
  const isPlain =
    /^[A-Za-z][A-Za-z0-9._/-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return isPlain ? text : escapeJson(JSON.stringify(text));
}
