/** @module Formats the end of a plan: what was checked, the impact, and the summary line. */
import type { PhaseName } from "../model/observed.ts";
import type { Plan } from "../model/plan.ts";
import { aboutTime, amount } from "./amounts.ts";
import type { Command } from "./apply-summary.ts";
import { censusLines } from "./census-lines.ts";
import type { Page } from "./palette.ts";
import { hasWork, type PlanSummary, planLine, summarize } from "./plan-summary.ts";
import { incompleteText } from "./probe-census.ts";
import { wrapIndented } from "./text-width.ts";

/** Number of checked resources, the sources of their values, and the impact of an apply. */
export function outlookLines(plan: Plan, { width }: Page): readonly string[] {
  const { restarts, replacements, seconds } = plan.forecast;
  const impact = `${amount(restarts, "restart")}, ${amount(replacements, "replacement")}, ${aboutTime(seconds)}`;
  return [
    ...censusLines(plan.census, width),
    ...(hasWork(plan) ? wrapIndented("Impact    ", impact, width) : []),
  ];
}

/** The last lines of a plan: facts to know before apply, and the line that scripts read. */
export function closingLines(
  plan: Plan,
  { palette, width }: Page,
  command: Command = "apply",
): readonly string[] {
  const summary = summarize(plan);
  const { adopt, move, forget } = summary;
  const also = Object.entries({ adopt, move, forget }).filter(([, count]) => count > 0);
  const partial = `Incomplete: ${incompleteText(plan.census)}.`;
  return [
    ...(plan.complete ? [] : wrapIndented("", partial, width).map(palette.yellow)),
    ...(also.length === 0
      ? []
      : wrapIndented("", `Also: ${also.map(([verb, count]) => `${count} to ${verb}`).join(", ")}.`, width)),
    ...blockedLines(plan, summary, { palette, width }, command),
    ...(hasWork(plan) ? [] : wrapIndented("", nothingToDo(plan), width).map(palette.green)),
    palette.bold(planLine(summary)),
  ];
}

function blockedLines(
  plan: Plan,
  { blocked }: PlanSummary,
  { palette, width }: Page,
  command: Command,
): readonly string[] {
  if (blocked === 0) return [];
  const all = blocked === plan.changes.filter((change) => change.action !== "keep").length;
  const text = `${blocked} of these ${blocked === 1 ? "is" : "are"} blocked`;
  return wrapIndented(
    "",
    `${text}: ${command} ${all ? "does nothing" : "carries out the rest"} and exits 4.`,
    width,
  ).map(palette.red);
}

/** States how many values were not compared: the service does not show them, so the last apply's are assumed. */
function nothingToDo({ complete, changes, census }: Plan): string {
  const { recorded, ...read } = census.fields;
  const all = recorded + read.probed + read.described + read.echoed;
  const notChecked =
    recorded === 1 ? "is as last applied or imported and was" : "are as last applied or imported and were";
  const phases = (["pending", "waiting-for-person", "failed"] as const).flatMap((is) => {
    const count = changes.filter(({ phase }) => phase?.is === is).length;
    return count === 0 ? [] : [phaseTexts[is](count)];
  });
  return [
    `No differences found${complete ? "" : " in what was checked"}.`,
    ...(recorded === 0 ? [] : [`${recorded} of ${amount(all, "value")} ${notChecked} not checked.`]),
    ...phases,
  ].join(" ");
}

const phaseTexts: {
  readonly [is in Extract<PhaseName, "pending" | "waiting-for-person" | "failed">]: (count: number) => string;
} = {
  pending: (count) =>
    `${amount(count, "operation")} ${count === 1 ? "is" : "are"} still running; apply will wait.`,
  "waiting-for-person": (count) =>
    `${amount(count, "resource")} ${count === 1 ? "waits" : "wait"} for a person.`,
  failed: (count) => `${amount(count, "resource")} failed.`,
};
