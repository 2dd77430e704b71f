/** @module Prints the state or a saved plan. */
import { kinds } from "../kinds/index.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import { openProject } from "../project/project.ts";
import { planJson } from "../report/plan-json.ts";
import { shownPlan, shownState } from "../report/shown.ts";
import { stateJson, stateText } from "../report/state-text.ts";
import { reportText } from "../report/text/report-text.ts";
import { jsonText, makePalette } from "../report/typeset.ts";
import { planView } from "../report/view/plan-view.ts";
import { emptyState } from "../state/document.ts";
import { readPlanFile } from "../state/plan-file.ts";
import { comparedWith, earlierPlan, writeOwnFiles } from "./reports/write-reports.ts";
import { type Invocation, type ManifestOptions, shownLatestState } from "./with-run.ts";

export interface ShowOptions extends ManifestOptions {
  readonly html?: string;
  readonly compare?: string;
}

/** `show [PLANFILE]`: prints the state, or the plan of a file, as text or JSON. */
export async function show(
  { options, settings, terminal }: Invocation<ShowOptions>,
  planFile: string | undefined,
): Promise<number> {
  const page = { palette: makePalette(terminal.colour), width: terminal.width };
  if (planFile !== undefined) {
    const saved = await readPlanFile(planFile);
    const compare = await earlierPlan(options);
    const plan = shownPlan(saved.plan, kinds);
    const earlier = compare && (await comparedWith(compare, saved.plan, kinds));
    if (options.html !== undefined) {
      const { planReport } = await import("./plan-command.ts");
      const value = { plan, ...defined({ earlier }) };
      const kind = planReport({ html: options.html, out: planFile }, terminal);
      await writeOwnFiles({ folder: ".", name: plan.name, is: "made", value }, kind, terminal);
    }
    terminal.out(
      options.json === true ? `${jsonText(planJson(plan, kinds))}\n` : reportText(planView(plan), page),
    );
    return exitCodes.done;
  }
  if (options.html !== undefined || options.compare !== undefined)
    throw new GraphformError("report-option", "--html shows a saved plan, and none is named", {
      hint: "graphform plan --out FILE saves one: graphform show FILE --html PAGE",
    });
  const project = await openProject(options, settings);
  const stored = await shownLatestState(project.store, terminal);
  if (stored === undefined && options.json !== true) {
    terminal.out(`No state at ${project.store.where}.\n`);
    return exitCodes.done;
  }
  const state = shownState(stored ?? emptyState(project.header.name), kinds);
  terminal.out(options.json === true ? `${jsonText(stateJson(state, kinds))}\n` : stateText(state, page));
  return exitCodes.done;
}
