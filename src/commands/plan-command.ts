/** @module Runs `plan`: compares the manifest with the service and reports the changes. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { kinds } from "../kinds/index.ts";
import { exitCodes } from "../model/errors.ts";
import { disruptions } from "../model/field-schema.ts";
import { hasChanges } from "../model/plan.ts";
import { resolving } from "../project/open-run.ts";
import { openProject } from "../project/project.ts";
import { savePlan } from "../project/saved-plan.ts";
import { assertAddressesKnown, planFor } from "../reconcile/plan-for.ts";
import { planAnnotations } from "../report/annotations.ts";
import type { Earlier } from "../report/html/report-html.ts";
import { madeOf } from "../report/manifest-result.ts";
import { planJson } from "../report/plan-json.ts";
import { gitlabCounts, planLine, summarize } from "../report/plan-summary.ts";
import { erroredPlanJson } from "../report/problems.ts";
import { type RedactedPlan, redactPlan, withoutUnchanged } from "../report/redact.ts";
import { planFindings } from "../report/sarif/findings.ts";
import { jsonText } from "../report/typeset.ts";
import { probeFigures } from "../report/view/census-view.ts";
import { planView } from "../report/view/plan-view.ts";
import { digestOf } from "../state/document.ts";
import type { PlanChoices } from "../state/plan-file.ts";
import { commitOfJob } from "./ci/newest-commit.ts";
import type { Opened } from "./folders.ts";
import { goalOf } from "./options.ts";
import { type StepOutputs, writeReport, writerOf } from "./reports/report-files.ts";
import { type ReportOptions, report } from "./reports/run-report.ts";
import { comparison, type ReportKind } from "./reports/write-reports.ts";
import { openLiveView } from "./terminal/live-view.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { type Invocation, withRun } from "./with-run.ts";

/** Files that `plan` writes, and the command that carries the plan out. */
interface PlanFiles {
  readonly out?: string;
  readonly sarif?: string;
  readonly gitlab?: string;
  readonly markdown?: string;
  readonly html?: string;
  readonly destroy?: boolean;
}

interface PlanOptions extends ReportOptions, PlanChoices, PlanFiles {
  readonly compare?: string;
  readonly detailedExitcode?: boolean;
}

/** `plan`: prints the changes that apply would make, and writes no other files than options name. With --json a failure is a plan document too. */
export async function plan(invocation: Invocation<PlanOptions>): Promise<number> {
  const { options, terminal } = invocation;
  const kind = planReport(options, terminal);
  const code = await report(invocation, kind, (opened) => makePlan(invocation, opened));
  return code === exitCodes.changes && options.detailedExitcode !== true ? exitCodes.done : code;
}

export function planReport(
  { out, sarif, gitlab, markdown, html, destroy = false }: PlanFiles,
  terminal: Terminal,
): ReportKind<MadePlan> {
  const next = { planFile: out, command: destroy ? "destroy" : "apply" } as const;
  return {
    report: "plan",
    whole: "graphform plan --json has every change",
    differs: ({ plan: made }) => hasChanges(made),
    exit: ({ plan: made }) => (hasChanges(made) ? exitCodes.changes : exitCodes.done),
    line: ({ plan: made }) => planLine(summarize(made)),
    view: ({ plan: made }) => planView(made, next),
    findings: ({ plan: made }) => planFindings(made),
    annotations: ({ plan: made }, pathOf) => planAnnotations(made, pathOf),
    figures: ({ plan: made }) => probeFigures(made.census),
    json: ({ plan: made, whole = () => made }) => planJson(whole(), kinds),
    failedJson: erroredPlanJson,
    page: (made) => made,
    outputs: async (made, isOne) => ({
      ...countsOf(made.map((one) => one.plan)),
      ...(out === undefined || !isOne
        ? {}
        : { plan_path: resolve(out), plan_sha256: digestOf(await readFile(out)) }),
    }),
    files: { own: { out, html }, all: { sarif, gitlab, markdown } },
    async writeAll(results) {
      const plans = madeOf(results).map(({ value }) => value.plan);
      // Without the numbers of one manifest the sum would be too small.
      if (gitlab !== undefined && plans.length === results.length)
        await writeReport("gitlab", gitlab, `${jsonText(gitlabCounts(plans))}\n`, terminal);
    },
  };
}

/** The numbers of plans. A replacement counts as add, destroy and replace; a blocked change counts as blocked alone. */
function countsOf(plans: readonly RedactedPlan[]): StepOutputs {
  const summaries = plans.map(summarize);
  const sum = (key: "add" | "change" | "destroy" | "blocked"): number =>
    summaries.reduce((total, summary) => total + summary[key], 0);
  const free = plans.flatMap(({ changes }) => changes).filter(({ blocked }) => blocked.length === 0);
  const worst = Math.max(0, ...free.map(({ disruption }) => disruptions.indexOf(disruption)));
  return {
    // A plan that only waits for what is under way is carried out too.
    changed: plans.some(
      (plan) => hasChanges(plan) || plan.steps.some(({ operation }) => operation === "wait"),
    ),
    add: sum("add"),
    change: sum("change"),
    replace: free.filter(({ action }) => action === "replace").length,
    destroy: sum("destroy"),
    blocked: sum("blocked"),
    max_disruption: disruptions[worst] ?? "none",
  };
}

interface MadePlan {
  readonly plan: RedactedPlan;
  /** The plan with the values of what stays as it is, too, if `plan` lacks them. */
  readonly whole?: () => RedactedPlan;
  readonly earlier?: Earlier;
}

/** Observes the service and makes the plan of the manifest; saves it if --out names a file. Prints no result. */
async function makePlan(invocation: Invocation<PlanOptions>, opened: Opened): Promise<MadePlan> {
  const { options, settings, terminal } = invocation;
  const project = await openProject(options, settings);
  await opened(project);
  const compared = await comparison(options);
  const destroying = options.destroy === true;
  // A removal needs no secret: a missing one must not prevent it.
  const reading = resolving(destroying ? "at hand" : "declared");
  const view = await openLiveView(terminal, options.json !== true);
  return withRun(invocation, { project, reading, creates: !destroying, repairs: true }, async (run) => {
    const goal = goalOf(run, options, destroying);
    assertAddressesKnown(goal, run.state, kinds);
    view?.reading(0, 0);
    const { plan: made } = await planFor(goal, run.state, { ...run.planning, onRead: view?.reading });
    view?.clear();
    if (options.out !== undefined) {
      const writer = { ...writerOf(options.out, terminal), signal: run.signal };
      await savePlan(options.out, made, { run, options, commit: commitOfJob(settings), destroying }, writer);
    }
    const whole = (): RedactedPlan => redactPlan(made, kinds);
    return { plan: redactPlan(withoutUnchanged(made), kinds), whole, ...compared(made, kinds) };
  }).finally(view?.clear);
}
