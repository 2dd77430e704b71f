/** @module Writes how a plan differs from an earlier one. */
import { amount } from "../amounts.ts";
import { timeText } from "../time-text.ts";
import type { ComparisonView, DifferenceView } from "../view/comparison.ts";
import { chip, type Tone } from "./action-words.ts";
import { type Markup, markup } from "./markup.ts";

const tones: { readonly [is in DifferenceView["is"]]: Tone } = {
  new: "careful",
  different: "careful",
  gone: "quiet",
};

/** Differences that are shown open. */
const mostOpen = 3;

/** A section that says what is new, gone and different, worst looked for first. */
export function comparisonHtml(view: ComparisonView, { file }: { readonly file: string }): Markup {
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
