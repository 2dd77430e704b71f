/** @module Writes what a plan comes to as outputs of a step of GitHub Actions. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { disruptions } from "../../model/field-schema.ts";
import type { Plan } from "../../model/plan.ts";
import { hasChanges } from "../../plan/plan.ts";
import type { Settings } from "../../project/settings.ts";
import { summarize } from "../../report/plan-summary.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { absolute, type StepOutputs, writeStepOutputs } from "./step-outputs.ts";

/** Files that a plan wrote. */
interface PlanFiles {
  readonly out?: string | undefined;
  readonly markdown?: string | undefined;
  readonly sarif?: string | undefined;
}

/** Writes the outputs of one plan, or the sums of several. Paths are absolute. */
export async function writePlanOutputs(
  plans: readonly Plan<unknown>[],
  { out, markdown, sarif }: PlanFiles,
  settings: Settings,
  terminal: Pick<Terminal, "err">,
): Promise<void> {
  if (settings.get("githubOutput") === undefined) return;
  const saved =
    out === undefined
      ? {}
      : {
          plan_path: resolve(out),
          plan_sha256: createHash("sha256")
            .update(await readFile(out))
            .digest("hex"),
        };
  const reports = { summary_md_path: absolute(markdown), sarif_path: absolute(sarif) };
  writeStepOutputs({ ...countsOf(plans), ...saved, ...reports }, settings, terminal);
}

/** The numbers of plans. A replacement counts as add, destroy and replace; a blocked change counts as blocked alone. */
function countsOf(plans: readonly Plan<unknown>[]): StepOutputs {
  const summaries = plans.map(summarize);
  const sum = (key: "add" | "change" | "destroy" | "blocked"): number =>
    summaries.reduce((total, summary) => total + summary[key], 0);
  const free = plans.flatMap(({ changes }) => changes).filter(({ blocked }) => blocked.length === 0);
  const worst = Math.max(0, ...free.map(({ disruption }) => disruptions.indexOf(disruption)));
  return {
    changed: plans.some(hasChanges),
    add: sum("add"),
    change: sum("change"),
    replace: free.filter(({ action }) => action === "replace").length,
    destroy: sum("destroy"),
    blocked: sum("blocked"),
    max_disruption: disruptions[worst] ?? "none",
  };
}
