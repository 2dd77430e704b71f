/** @module Reads the saved plan that a page is compared with. */
import { GraphformError } from "../../model/errors.ts";
import type { Plan } from "../../model/plan.ts";
import type { Earlier } from "../../report/html/report-html.ts";
import type { KindNames } from "../../report/words.ts";
import { readPlanFile } from "../../state/plan-file.ts";

/** A saved plan, and the name of its file. */
interface EarlierPlan {
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

/** The plan that --compare names, read before any work is done. Throws `report-option` if there is no page. */
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
