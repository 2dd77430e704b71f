/** @module Writes pages of plans and of drift to files, and reads the plan that one is compared with. */
import { createHash } from "node:crypto";
import { GraphformError } from "../../model/errors.ts";
import type { Plan } from "../../model/plan.ts";
import { driftJson } from "../../report/drift/drift-json.ts";
import type { Earlier } from "../../report/html/report-html.ts";
import { planJson } from "../../report/plan-json.ts";
import type { ShownDrift, ShownPlan } from "../../report/shown.ts";
import { driftView } from "../../report/view/drift-view.ts";
import { type PlanViewOptions, planView } from "../../report/view/plan-view.ts";
import type { KindNames } from "../../report/words.ts";
import { readPlanFile } from "../../state/plan-file.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { writeReport } from "./write-report.ts";

/** A saved plan, and the name of its file. */
export interface EarlierPlan {
  readonly plan: Plan;
  readonly file: string;
}

/** The comparison of a plan with an earlier one, for its page. */
export async function comparedWith(
  { plan: earlier, file }: EarlierPlan,
  plan: Plan,
  names: KindNames,
): Promise<Earlier> {
  const { comparePlans } = await import("../../report/view/comparison.ts");
  return { view: comparePlans(earlier, plan, names), file };
}

/** The plan that --compare names, read before any work is done. Throws `report-option` where there is no page. */
export async function earlierPlan({
  html,
  compare,
}: {
  readonly html?: string;
  readonly compare?: string;
}): Promise<EarlierPlan | undefined> {
  if (compare === undefined) return undefined;
  if (html === undefined) {
    const hint = `add --html FILE, or leave --compare ${compare} out`;
    throw new GraphformError("report-option", "--compare is a part of the page that --html writes", { hint });
  }
  return { plan: (await readPlanFile(compare)).plan, file: compare };
}

/** Writes the page. What draws and escapes it is loaded only here. */
export async function writePlanHtml(
  file: string,
  plan: ShownPlan,
  names: KindNames,
  {
    terminal,
    earlier,
    ...options
  }: PlanViewOptions & {
    readonly earlier?: Earlier | undefined;
    readonly terminal: Pick<Terminal, "err" | "out">;
  },
): Promise<void> {
  const { reportHtml } = await import("../../report/html/report-html.ts");
  const { neighbourhood } = await import("../../report/view/neighbourhood.ts");
  const view = planView(plan, options);
  const data = planJson(plan, names);
  const page = reportHtml(view, { sha256, data, picture: neighbourhood(plan, view), earlier });
  await writeReport("html", file, page, terminal);
}

/** Writes the page of a drift report. What draws and escapes it is loaded only here. */
export async function writeDriftHtml(
  file: string,
  report: ShownDrift,
  names: KindNames,
  terminal: Pick<Terminal, "err" | "out">,
): Promise<void> {
  const { reportHtml } = await import("../../report/html/report-html.ts");
  const page = reportHtml(driftView(report, names), { sha256, data: driftJson(report, names) });
  await writeReport("html", file, page, terminal);
}

/** Writes a page that says why there is no plan or no drift report, so that the page of an earlier run is not taken for it. */
export async function writeFailureHtml(
  file: string,
  error: GraphformError,
  terminal: Pick<Terminal, "err" | "out">,
  report: "plan" | "drift" = "plan",
): Promise<void> {
  const { failureHtml } = await import("../../report/html/failure-html.ts");
  await writeReport("html", file, failureHtml(error, sha256, report), terminal);
}

/** True where a report is what could not be written, or was asked for in a wrong way. */
export function isReportError(error: GraphformError): boolean {
  return error.code.startsWith("report-");
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("base64");
}
