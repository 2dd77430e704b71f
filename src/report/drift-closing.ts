/** @module Formats the end of a drift report: what was looked at, and the verdict. */
import { countUnread, type DriftReport, hasDrift } from "../model/drift.ts";
import { amount } from "./amounts.ts";
import { censusLines } from "./census-lines.ts";
import { countDrift, seenText } from "./drift-counts.ts";
import { escapeText } from "./escape.ts";
import type { Page } from "./palette.ts";
import { wrapIndented } from "./text-width.ts";

/** Resources that are named among those that the report is not sure of. */
const named = 10;

/** The census with its denominator, and the verdict, which says how much was seen and how much is only remembered. */
export function closingDriftLines(
  report: DriftReport,
  page: Page,
): readonly [checked: readonly string[], verdict: readonly string[]] {
  return [checkedLines(report, page), verdictLines(report, page)];
}

function checkedLines({ census }: DriftReport, { width }: Page): readonly string[] {
  const { notChecked, unfinished } = census;
  const open = [
    ...notChecked.map(({ address, reason }) => `not checked: ${address}: ${reason}`),
    ...unfinished.map(({ address, reason }) => `not at rest: ${address}: ${reason}; look again when it is`),
  ];
  const rest = open.length - named;
  return [
    ...censusLines(census, width),
    ...open.slice(0, named).flatMap((line) => wrapIndented("          ", escapeText(line), width)),
    ...(rest > 0 ? [`          and ${rest} more`] : []),
  ];
}

function verdictLines(report: DriftReport, { palette, width }: Page): readonly string[] {
  const counts = countDrift(report);
  const { outside, ours, cosmetic } = counts;
  const { unmanaged = [], complete } = report;
  const verdict = hasDrift(report)
    ? `Drift: ${amount(outside, "resource")} changed outside${unmanaged.length === 0 ? "" : `, ${unmanaged.length} not declared`}.`
    : `No drift found${complete ? "" : " in what was checked"}.`;
  const also = [
    ...(ours === 0 ? [] : [`${amount(ours, "resource")} with changes that are not applied yet`]),
    ...(cosmetic === 0
      ? []
      : [`${amount(cosmetic, "difference")} that ${cosmetic === 1 ? "does" : "do"} not matter (--verbose)`]),
  ];
  const unread = countUnread(report.census);
  const proven =
    unread === 0
      ? ""
      : `${unread === 1 ? "One thing" : `${unread} things`} could not be read: this proves nothing about ${unread === 1 ? "it" : "them"} (exit code 1).`;
  const tone = hasDrift(report) ? palette.yellow : palette.green;
  return [
    ...(also.length === 0 ? [] : wrapIndented("", `Also: ${also.join(", ")}.`, width)),
    ...(proven === "" ? [] : wrapIndented("", proven, width).map(palette.red)),
    ...wrapIndented("", `${verdict} ${seenText(counts)}.`, width).map((line) => palette.bold(tone(line))),
  ];
}
