/** @module Writes pages of plans and of drift to files, and reads the plan that one is compared with. */
import { createHash } from "node:crypto";
import type { DriftReport } from "../model/drift.ts";
import { GraphformError, isGraphformError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import type { PlanPageOptions } from "../report/html/plan-html.ts";
import type { KindNames } from "../report/kind-words.ts";
import { readPlanFile } from "../state/plan-file.ts";
import type { Terminal } from "./terminal.ts";
import { writeReport } from "./write-report.ts";

/** The plan that --compare names, read before any work is done. Throws `report-option` where there is no page. */
export async function earlierPlan({
  html,
  compare,
}: {
  readonly html?: string;
  readonly compare?: string;
}): Promise<PlanPageOptions["earlier"]> {
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
  plan: Plan,
  names: KindNames,
  {
    terminal,
    ...options
  }: Omit<PlanPageOptions, "sha256"> & { readonly terminal: Pick<Terminal, "mask" | "err"> },
): Promise<void> {
  const { planHtml } = await import("../report/html/plan-html.ts");
  const safe = (given: Plan): Plan => maskTexts(given, terminal);
  const earlier = options.earlier && { ...options.earlier, plan: safe(options.earlier.plan) };
  const page = planHtml(safe(plan), names, { ...options, earlier, sha256 });
  await writeReport("html", file, page, { ...terminal, mask: (text) => text });
}

/** Writes the page of a drift report. What draws and escapes it is loaded only here. */
export async function writeDriftHtml(
  file: string,
  report: DriftReport,
  names: KindNames,
  terminal: Pick<Terminal, "mask" | "err">,
): Promise<void> {
  const { driftHtml } = await import("../report/html/drift-html.ts");
  const page = driftHtml(maskTexts(report, terminal), names, sha256);
  await writeReport("html", file, page, { ...terminal, mask: (text) => text });
}

/**
 * Masks what a service may have repeated, before it stands in a page. The page's own words are not masked: its script and its style
 * have to stay whole.
 */
function maskTexts<Report extends Plan | DriftReport>(
  report: Report,
  { mask }: Pick<Terminal, "mask">,
): Report {
  const text = JSON.stringify(report, (_, inner: unknown) =>
    typeof inner === "string" ? mask(inner) : inner,
  );
  return JSON.parse(text);
}

/** Writes a page that says why there is no plan or no drift report, so that the page of an earlier run is not taken for it. */
export async function writeFailureHtml(
  file: string,
  error: unknown,
  terminal: Pick<Terminal, "mask" | "err">,
  report: "plan" | "drift" = "plan",
): Promise<void> {
  const { failureHtml } = await import("../report/html/failure-html.ts");
  await writeReport("html", file, failureHtml(error, sha256, report), terminal);
}

/** True where a report is what could not be written, or was asked for in a wrong way. */
export function isReportError(error: unknown): boolean {
  return isGraphformError(error) && error.code.startsWith("report-");
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("base64");
}
