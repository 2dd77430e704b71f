/** @module Writes the head of a plan page: the verdict and the next command. */
import { incompleteText } from "../probe-census.ts";
import type { PlanView } from "../view/plan-view.ts";
import type { Severity } from "../view/verdict.ts";
import { timeText } from "../words.ts";
import { chip, type Tone } from "./action-words.ts";
import { type Markup, markup } from "./markup.ts";

const tones: { readonly [severity in Severity]: Tone } = {
  nothing: "good",
  changes: "careful",
  blocked: "bad",
  "data-loss": "bad",
};

/** Verdict, next command, counts, and when the plan was made. */
export function summaryHtml(view: PlanView): Markup {
  const { name, verdict, severity, next, complete, counts, census } = view;
  const words: readonly (readonly [number, string, Tone])[] = [
    [counts.blocked, "blocked", "bad"],
    [counts.destroy, "to destroy", "bad"],
    [counts.change, "to change", "careful"],
    [counts.add, "to add", "good"],
    [counts.adopt, "to adopt", "quiet"],
    [counts.move, "to move", "quiet"],
    [counts.forget, "to forget", "quiet"],
  ];
  const chips = words
    .filter(([count]) => count > 0)
    .map(([count, word, tone]) => markup`<li>${chip(`${count} ${word}`, tone)}</li>`);
  return markup`<p class="dim">Plan for <strong>${name}</strong> · <time datetime="${view.timestamp}">${timeText(view.timestamp)}</time></p>
<h1 class="${tones[severity]}">${verdict}</h1>
<p class="next">${next.command !== undefined && markup`<span>Next:</span> <code>${next.command}</code>`} <span>${next.note}</span></p>
${!complete && markup`<p class="facts">${chip("incomplete", "careful")} ${incompleteText(census)}.</p>`}
${chips.length > 0 && markup`<ul class="facts">${chips}</ul>`}`;
}
