/** @module Writes a plan as a page of HTML. */
import { importLines, importTitle } from "../plan-closing.ts";
import { planJson } from "../plan-json.ts";
import type { ShownPlan } from "../shown.ts";
import type { ComparisonView, DifferenceView } from "../view/comparison.ts";
import { neighbourhood } from "../view/neighbourhood.ts";
import { type PlanView, planView } from "../view/plan-view.ts";
import { amount, type KindNames, timeText } from "../words.ts";
import { chip, type Tone } from "./action-words.ts";
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

const tones: { readonly [is in DifferenceView["is"]]: Tone } = {
  new: "careful",
  different: "careful",
  gone: "quiet",
};

/** Differences that are shown open. */
const mostOpen = 3;

/** A section that says what is new, gone and different, worst looked for first. */
function comparisonHtml(view: ComparisonView, { file }: { readonly file: string }): Markup {
  const { differences, same, isSame, timestamp, name } = view;
  const verdict = isSame
    ? "The same plan."
    : differences.length === 0
      ? "The same changes, planned from another state."
      : `${amount(total(differences), "difference")}, ${amount(same, "change")} as before.`;
  return markup`<section aria-labelledby="comparison"><h2 id="comparison">Compared with an earlier plan</h2>
<p>${verdict} <span class="dim"><code>${file}</code>, a plan for ${name} of ${timeText(timestamp)}</span></p>
${differences.length > 0 && markup`<details${differences.length <= mostOpen && markup` open`}><summary>The differences</summary><div class="differences">${differences.map(differenceHtml)}</div></details>`}</section>`;
}

function total(differences: readonly DifferenceView[]): number {
  return differences.reduce((sum, { addresses }) => sum + addresses.length, 0);
}

function differenceHtml({ is, addresses, facts }: DifferenceView): Markup {
  const [first = "", ...others] = addresses;
  const more =
    others.length === 0
      ? undefined
      : markup`<details><summary>and ${others.length} more</summary><ul class="addresses">${others.map((address) => markup`<li><span class="address">${address}</span></li>`)}</ul></details>`;
  return markup`<div class="block ${tones[is]}"><div class="body"><p>${chip(is, tones[is])} <strong class="address">${first}</strong></p>${more}<ul class="plain">${facts.map((fact) => markup`<li>${fact}</li>`)}</ul></div></div>`;
}
