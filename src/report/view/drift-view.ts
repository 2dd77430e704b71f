/** @module Describes a drift report for people: verdict, groups worst first with equal drift of many in one block, what was seen. */

import { type Happening, hasDrift } from "../../model/drift.ts";
import { defined } from "../../model/json.ts";
import { countDrift, type DriftCounts, seenText } from "../drift/drift-counts.ts";
import { type WayOut, wayOfUnmanaged, waysOut } from "../drift/drift-ways.ts";
import type { ShownDrift } from "../shown.ts";
import { amount, type KindNames } from "../words.ts";
import { type DriftBlockView, driftBlocks } from "./drift-block-view.ts";
import type { OutputView } from "./field-view.ts";

/** A group of blocks; `bad` and `careful` ones matter. */
export interface DriftGroupView {
  readonly title: string;
  readonly note: string;
  readonly severity: "bad" | "careful" | "quiet";
  /** False for what differs and does not matter. */
  readonly matters: boolean;
  /** Number of resources. */
  readonly count: number;
  readonly blocks: readonly DriftBlockView[];
}

/** An object that nobody declares. */
export interface UnmanagedView {
  readonly noun: string;
  readonly id: string;
  readonly name?: string;
}

/** A report for people. Texts are not escaped. */
export interface DriftView {
  readonly name: string;
  readonly timestamp: string;
  readonly isDrift: boolean;
  readonly verdict: string;
  /** Number of values that were seen, and of those that are only remembered; a sentence. */
  readonly seen: string;
  readonly complete: boolean;
  readonly counts: DriftCounts;
  readonly groups: readonly DriftGroupView[];
  readonly unmanaged: readonly UnmanagedView[];
  /** The way out of `unmanaged`. */
  readonly unmanagedWay: string;
  readonly ways: readonly WayOut[];
  /** Outputs with another value than at the last apply. */
  readonly outputs: readonly OutputView[];
  readonly census: ShownDrift["census"];
}

/** Describes a drift report. */
export function driftView(report: ShownDrift, names: KindNames): DriftView {
  const { name, timestamp, complete, census, unmanaged = [] } = report;
  const counts = countDrift(report);
  return {
    name,
    timestamp,
    isDrift: hasDrift(report),
    verdict: verdictOf(report, counts),
    seen: `${seenText(counts)}.`,
    complete,
    counts,
    groups: groupsOf(report),
    unmanaged: unmanaged.map(({ kind, id, name: called }) => ({
      noun: (Object.hasOwn(names, kind) ? names[kind]?.noun : undefined) ?? kind,
      id,
      ...defined({ name: called }),
    })),
    unmanagedWay: wayOfUnmanaged,
    ways: waysOut(report),
    outputs: report.outputs.map(({ name, applied, seen }) => ({
      ...{ name, action: "update", note: "recorded by the next apply" },
      before: applied?.text ?? "(none)",
      after: seen?.text ?? "(none)",
    })),
    census,
  };
}

function verdictOf(report: ShownDrift, { outside }: DriftCounts): string {
  const { unmanaged = [], complete } = report;
  if (!hasDrift(report)) return `No drift found${complete ? "" : " in what was checked"}.`;
  const undeclared = unmanaged.length === 0 ? "" : `, ${unmanaged.length} not declared`;
  return `Drift: ${amount(outside, "resource")} changed outside${undeclared}.`;
}

const severities = { red: "bad", yellow: "careful", cyan: "quiet" } as const;

function groupsOf({ resources }: ShownDrift): readonly DriftGroupView[] {
  const quiet = { what: ["unimportant"], title: unimportantTitle, note: "", tone: "cyan" } as const;
  return [...driftGroups, quiet].flatMap(({ what, title, note, tone }): DriftGroupView[] => {
    const found = resources.filter((resource) => what.some((one) => one === resource.what));
    if (found.length === 0) return [];
    const blocks = driftBlocks(found);
    const matters = title !== quiet.title;
    return [{ title, note, severity: severities[tone], matters, count: found.length, blocks }];
  });
}

/** One group of a drift report. */
interface DriftGroup {
  readonly what: readonly Happening[];
  readonly title: string;
  readonly note: string;
  /** Its colour in text. */
  readonly tone: "red" | "yellow" | "cyan";
}

/** The groups of what matters or is not applied, worst first. */
const driftGroups: readonly DriftGroup[] = [
  { what: ["deleted"], title: "Deleted outside", note: "", tone: "red" },
  { what: ["failed"], title: "Failed", note: "", tone: "red" },
  { what: ["stopped", "started"], title: "Stopped or started outside", note: "", tone: "red" },
  { what: ["changed", "renamed"], title: "Changed outside", note: "", tone: "yellow" },
  {
    what: ["unapplied"],
    title: "Not applied yet",
    note: "declared, not brought by an apply: no drift",
    tone: "cyan",
  },
];

/** The title of what differs and does not matter. */
const unimportantTitle = "Differs, and does not matter";
