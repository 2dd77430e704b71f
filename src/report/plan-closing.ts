import type { Change, Plan } from "../model/plan.ts";
import { aboutTime, amount } from "./amounts.ts";
import type { Page } from "./palette.ts";
import { hasWork, type PlanSummary, planLine, summarize } from "./plan-summary.ts";
import { hang } from "./text-width.ts";

/** What was looked at, where its values come from, and what applying will feel like. */
export function outlookLines(plan: Plan, { width }: Page): readonly string[] {
  const { declared, checked, skipped, unmanaged, fields } = plan.census;
  const { restarts, replacements, seconds } = plan.forecast;
  const left = skipped === 0 ? "" : `, ${skipped} skipped`;
  const sources = (["probed", "described", "echoed", "recorded"] as const).filter(
    (source) => fields[source] > 0,
  );
  const values = sources.map((source) => `${fields[source]} ${source}`).join(", ");
  const ahead = `${amount(restarts, "restart")}, ${amount(replacements, "replacement")}, ${aboutTime(seconds)}`;
  return [
    ...hang("Census    ", `${declared} declared, ${checked} checked${left}, ${unmanaged} unmanaged`, width),
    ...(values === "" ? [] : hang("          ", `values: ${values}`, width)),
    ...(hasWork(plan) ? hang("Forecast  ", ahead, width) : []),
  ];
}

/** The last lines of a plan: what to know before it is applied, and the line that scripts read. */
export function closingLines(plan: Plan, { palette, width }: Page): readonly string[] {
  const summary = summarize(plan);
  const { adopt, move, forget } = summary;
  const also = Object.entries({ adopt, move, forget }).filter(([, count]) => count > 0);
  const { skipped, declared } = plan.census;
  const partial = `Incomplete: --target or --exclude left out ${skipped} of ${declared} declared.`;
  return [
    ...(plan.complete ? [] : hang("", partial, width).map(palette.yellow)),
    ...(also.length === 0
      ? []
      : hang("", `Also: ${also.map(([verb, count]) => `${count} to ${verb}`).join(", ")}.`, width)),
    ...blockedLines(plan, summary, { palette, width }),
    ...(hasWork(plan) ? [] : hang("", nothingToDo(plan), width).map(palette.green)),
    palette.bold(planLine(summary)),
  ];
}

function blockedLines(plan: Plan, { blocked }: PlanSummary, { palette, width }: Page): readonly string[] {
  if (blocked === 0) return [];
  const all = blocked === plan.changes.filter((change) => change.action !== "keep").length;
  const said = `${blocked} of these ${blocked === 1 ? "is" : "are"} blocked`;
  return hang("", `${said}: apply ${all ? "does nothing" : "carries out the rest"} and exits 4.`, width).map(
    palette.red,
  );
}

function nothingToDo({ complete, changes }: Plan): string {
  if (changes.some(isRestless)) return "No changes. All that is left is what is not at rest.";
  return `No changes. ${complete ? "What runs is what is declared." : "What was looked at is as declared."}`;
}

function isRestless({ phase }: Change): boolean {
  return phase !== undefined && ["pending", "failed", "waiting-for-person"].includes(phase.is);
}
