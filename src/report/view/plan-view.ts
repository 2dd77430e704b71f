/** @module Turns a plan into what every report for people says of it: words and numbers, no colours, no markup. */

import { shellWord } from "../../model/errors.ts";
import { type Disruption, disruptions } from "../../model/field-schema.ts";
import type { Census, Change, Forecast, MayBe, Plan } from "../../model/plan.ts";
import type { Palette } from "../palette.ts";
import { type PlanSummary, planLine, summarize } from "../plan-summary.ts";
import type { ShownPlan } from "../shown.ts";
import { type BlockView, blocksOf } from "./block-view.ts";
import { type OutputView, outputsOf } from "./field-view.ts";
import { type NoteView, notesOf } from "./note-view.ts";
import { type NextView, nextOf, type Severity, severityOf, verdictOf } from "./verdict.ts";

/** Blocks of equal severity. */
export interface GroupView {
  readonly title: string;
  /** Meaning of the title for users; may be empty. */
  readonly note: string;
  readonly severity: "bad" | "careful" | "good" | "quiet";
  /** Number of changes, not of blocks. */
  readonly count: number;
  readonly blocks: readonly BlockView[];
}

/** Resources that an apply of the plan disrupts in one way: every report names each of them. */
export interface AffectedView extends Pick<GroupView, "title" | "note" | "severity"> {
  /** Sorted. */
  readonly addresses: readonly string[];
}

/** Number of changes that disrupt their users in one way; those that a guard holds back are counted apart. */
export interface DisruptionSum {
  readonly disruption: Disruption;
  readonly count: number;
  readonly blocked: number;
}

/**
 * A plan as people read it. Plain data without secrets; every text is as the manifest, the service or the planner has it, so
 * that each report must escape it for its own format (`escapeText` makes control characters visible).
 */
export interface PlanView {
  readonly name: string;
  readonly serial: number;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly fingerprint: string;
  /** False where something was left out or did not answer. */
  readonly complete: boolean;
  readonly severity: Severity;
  /** One sentence: `12 changes, 1 blocked, data of 1 database would be lost.` */
  readonly verdict: string;
  readonly next: NextView;
  /** Command that carries the plan out. */
  readonly command: "apply" | "destroy";
  readonly counts: PlanSummary;
  /** `Plan: 1 to add, 2 to change, 0 to destroy.` */
  readonly summaryLine: string;
  /** Worst first; groups without changes are left out. */
  readonly groups: readonly GroupView[];
  /** Worst first; empty where nothing loses data, is replaced or interrupted. What a guard holds back is not among them. */
  readonly affected: readonly AffectedView[];
  /** Command that shows the whole plan: some reports cut long lists. */
  readonly whole: string;
  /** Unchanged resources that are not ready or were changed outside. */
  readonly notes: readonly NoteView[];
  readonly outputs: readonly OutputView[];
  /** Creates of what may be there already, by address. */
  readonly mayBe: readonly (MayBe & Pick<Change, "address" | "kind">)[];
  readonly census: Census;
  /** `path` is the chain of steps that takes longest; empty where it is not known. */
  readonly forecast: Required<Forecast>;
  /** Worst first; disruptions without changes are left out. */
  readonly disruption: readonly DisruptionSum[];
}

/** Options of a view: the next command depends on them. */
export interface PlanViewOptions {
  /** File of the saved plan, if it was saved. */
  readonly planFile?: string | undefined;
  /** Command that carries the plan out where it was not saved. */
  readonly command?: "apply" | "destroy";
}

/** The view of a plan. */
export function planView(plan: ShownPlan, { planFile, command = "apply" }: PlanViewOptions = {}): PlanView {
  const { name, serial, timestamp, fingerprint, complete, census } = plan;
  const counts = summarize(plan);
  const grouped = groupChanges(plan.changes);
  return {
    name,
    serial,
    timestamp,
    fingerprint,
    complete,
    severity: severityOf(plan),
    verdict: verdictOf(plan),
    next: nextOf(plan, planFile, command),
    command,
    counts,
    summaryLine: planLine(counts),
    groups: grouped.map(({ changes, ...group }) => ({
      ...headOf(group),
      count: changes.length,
      blocks: blocksOf(changes),
    })),
    affected: affectedBy(plan),
    whole:
      planFile === undefined
        ? `graphform plan ${command === "destroy" ? "--destroy " : ""}--json`
        : `graphform show ${shellWord(planFile)} --json`,
    notes: notesOf(plan.changes, command),
    outputs: outputsOf(plan),
    mayBe: plan.changes
      .flatMap(({ address, kind, mayBe }) => (mayBe === undefined ? [] : [{ address, kind, ...mayBe }]))
      .sort((a, b) => (a.address < b.address ? -1 : 1)),
    census,
    forecast: { ...plan.forecast, path: plan.forecast.path ?? [] },
    disruption: disruptionOf(plan),
  };
}

const severities: { readonly [tone: string]: GroupView["severity"] } = {
  red: "bad",
  yellow: "careful",
  green: "good",
};

/** Everything that an apply of the plan disrupts, worst first. */
export function affectedBy(plan: Plan<unknown>): readonly AffectedView[] {
  return groupChanges(plan.changes)
    .filter(({ named }) => named === true)
    .map(({ changes, ...group }) => ({
      ...headOf(group),
      addresses: changes.map(({ address }) => address).sort(),
    }));
}

function headOf({
  title,
  note,
  tone,
}: Omit<Group<unknown>, "changes">): Pick<GroupView, "title" | "note" | "severity"> {
  return { title, note, severity: severities[tone] ?? "quiet" };
}

function disruptionOf({ changes }: ShownPlan): readonly DisruptionSum[] {
  const changed = changes.filter(({ action }) => action !== "keep");
  return disruptions.toReversed().flatMap((disruption) => {
    const found = changed.filter((change) => change.disruption === disruption);
    const blocked = found.filter((change) => change.blocked.length > 0).length;
    return found.length === 0 ? [] : [{ disruption, count: found.length - blocked, blocked }];
  });
}

/** Changes of equal severity. */
interface Group<Value> {
  readonly title: string;
  readonly note: string;
  readonly tone: keyof Palette;
  /** True where every report names each resource: it loses data, is replaced or interrupted. */
  readonly named?: true;
  readonly changes: readonly Change<Value>[];
}

const groups: readonly (Omit<Group<unknown>, "changes"> & {
  readonly matches: (change: Change<unknown>) => boolean;
})[] = [
  {
    title: "Gone",
    note: "deleted outside graphform, and their data with them",
    tone: "red",
    named: true,
    matches: (change) => change.gone === true,
  },
  {
    title: "Blocked",
    note: "a guard refuses these until it is lifted",
    tone: "red",
    matches: (change) => change.blocked.length > 0,
  },
  {
    title: "Data loss",
    note: "the data of these is lost",
    tone: "red",
    named: true,
    matches: (change) => change.disruption === "data-loss",
  },
  {
    title: "Replaced and deleted",
    note: "no data is lost",
    tone: "red",
    named: true,
    matches: (change) => change.action === "replace" || change.action === "delete",
  },
  {
    title: "Restarts",
    note: "connections are cut for a while",
    tone: "yellow",
    named: true,
    matches: (change) => change.disruption === "restart" || change.disruption === "downtime",
  },
  {
    title: "Quiet updates",
    note: "in place, nobody is interrupted",
    tone: "yellow",
    matches: (change) =>
      change.action === "update" || (change.action === "adopt" && change.fields.length > 0),
  },
  { title: "New", note: "", tone: "green", matches: (change) => change.action === "create" },
  {
    title: "Bindings",
    note: "only the state changes",
    tone: "cyan",
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
  return worse === 0 ? (a.address < b.address ? -1 : 1) : worse;
}
