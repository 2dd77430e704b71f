import type { PhaseName, Source } from "../model/observed.ts";
import type { Plan } from "../model/plan.ts";
import { aboutTime, amount } from "./amounts.ts";
import type { Page } from "./palette.ts";
import { hasWork, type PlanSummary, planLine, summarize } from "./plan-summary.ts";
import { hang } from "./text-width.ts";

/** What was looked at, where its values come from, and what applying will feel like. */
export function outlookLines(plan: Plan, { width }: Page): readonly string[] {
  const { declared, checked, skipped, unmanaged, fields } = plan.census;
  const { restarts, replacements, seconds } = plan.forecast;
  const left = skipped === 0 ? "" : `, ${skipped} skipped`;
  const known = (["probed", "described", "echoed", "recorded"] as const).filter(
    (source) => fields[source] > 0,
  );
  const values = known.map((source) => `${fields[source]} ${sources[source]}`).join(", ");
  const ahead = `${amount(restarts, "restart")}, ${amount(replacements, "replacement")}, ${aboutTime(seconds)}`;
  return [
    ...hang("Checked   ", `${declared} declared, ${checked} checked${left}, ${unmanaged} unmanaged`, width),
    ...(values === "" ? [] : hang("          ", `values: ${values}`, width)),
    ...(hasWork(plan) ? hang("Impact    ", ahead, width) : []),
  ];
}

const sources: { readonly [source in Source]: string } = {
  probed: "read from the database",
  described: "read from the service",
  echoed: "echoed back",
  recorded: "remembered",
};

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

/** Claims no more than was compared: what the service does not show is what the last apply recorded. */
function nothingToDo({ complete, changes, census }: Plan): string {
  const { recorded, ...read } = census.fields;
  const all = recorded + read.probed + read.described + read.echoed;
  const comes =
    recorded === 1 ? "is as last applied or imported and was" : "are as last applied or imported and were";
  const atRest = (["pending", "waiting-for-person", "failed"] as const).flatMap((is) => {
    const count = changes.filter(({ phase }) => phase?.is === is).length;
    return count === 0 ? [] : [waits[is](count)];
  });
  return [
    `No differences found${complete ? "" : " in what was checked"}.`,
    ...(recorded === 0 ? [] : [`${recorded} of ${amount(all, "value")} ${comes} not checked.`]),
    ...atRest,
  ].join(" ");
}

const waits: {
  readonly [is in Extract<PhaseName, "pending" | "waiting-for-person" | "failed">]: (count: number) => string;
} = {
  pending: (count) =>
    `${amount(count, "operation")} ${count === 1 ? "is" : "are"} still running; apply will wait.`,
  "waiting-for-person": (count) =>
    `${amount(count, "resource")} ${count === 1 ? "waits" : "wait"} for a person.`,
  failed: (count) => `${amount(count, "resource")} failed.`,
};
