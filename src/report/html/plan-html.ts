/** @module Writes a plan as a page of HTML. */
import { importLines, importTitle } from "../import-lines.ts";
import type { KindNames } from "../kind-words.ts";
import { planJson } from "../plan-json.ts";
import type { ShownPlan } from "../shown.ts";
import type { ComparisonView } from "../view/comparison.ts";
import { neighbourhood } from "../view/neighbourhood.ts";
import { type PlanView, planView } from "../view/plan-view.ts";
import { comparisonHtml } from "./comparison-html.ts";
import { planFilters } from "./filters-html.ts";
import { groupsHtml, notesHtml, outputsHtml } from "./groups-html.ts";
import { type Markup, markup } from "./markup.ts";
import { overviewHtml } from "./overview-html.ts";
import { pageText, type Sha256 } from "./page.ts";
import { pictureHtml } from "./picture.ts";
import { summaryHtml } from "./summary-html.ts";

/** Content of a page beside the plan. */
export interface PlanPageOptions {
  readonly sha256: Sha256;
  /** File of the saved plan, if it was saved. */
  readonly planFile?: string | undefined;
  /** Command that carries the plan out where it was not saved. */
  readonly command?: "apply" | "destroy";
  /** The comparison with an earlier plan, and the name of its file. */
  readonly earlier?: { readonly view: ComparisonView; readonly file: string } | undefined;
}

/** The page of a plan: one file that loads nothing and is whole without scripts. Contains no secrets. */
export function planHtml(plan: ShownPlan, names: KindNames, options: PlanPageOptions): string {
  const view = planView(plan, options);
  const { earlier } = options;
  const imports = importLines(view);
  const parts = {
    title: `${view.name}: ${view.verdict}`,
    header: summaryHtml(view),
    main: markup`${[
      overviewHtml(view),
      earlier && comparisonHtml(earlier.view, earlier),
      planFilters(view),
      groupsHtml(view.groups),
      imports.length > 0 &&
        markup`<section class="guard careful"><h2>${importTitle}</h2><pre>${imports.join("\n")}</pre></section>`,
      notesHtml(view.notes),
      outputsHtml(view.outputs),
      pictureHtml(neighbourhood(plan, view)),
    ]}`,
    footer: footerOf(view),
    data: planJson(plan, names),
  };
  return pageText(parts, options.sha256);
}

function footerOf({ fingerprint, serial }: PlanView): Markup {
  return markup`<p class="dim">Made by graphform from serial ${serial} of the state. Fingerprint <code>${fingerprint}</code>. The plan as JSON, as <code>plan --json</code> prints it, is in the element <code>report-json</code> of this file.</p>`;
}
