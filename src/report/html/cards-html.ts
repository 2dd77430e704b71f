/** @module Writes the names of what is disrupted, and the cards of a page: observation, disruption, forecast, remedies. */
import type { ForecastStep } from "../../model/plan.ts";
import { stepWords } from "../apply-text.ts";
import type { AffectedView, CensusView, ReportView, Tone } from "../view/report-view.ts";
import { amount, elapsedTime } from "../words.ts";
import { chip, disruptionWords, folded, type Markup, markup } from "./block-html.ts";

/** The names of everything that is disrupted, and the cards; those about the impact only if there are changes. */
export function cardsHtml(view: ReportView): Markup {
  const { affected, census, impact, remedies } = view;
  const cards = [
    censusCard(census),
    ...(impact === "" ? [] : [disruptionCard(view), forecastCard(view)]),
    ...(remedies.length === 0 ? [] : [remediesCard(view)]),
  ];
  return markup`${affected.map(affectedHtml)}<div class="cards">${cards}</div>`;
}

/** Addresses that are shown without a click; databases whose data is lost are never folded. */
const maxOpen = 50;

function affectedHtml({ title, note, tone, addresses }: AffectedView): Markup {
  const list = markup`<ul class="names">${addresses.map((address) => markup`<li><span class="address">${address}</span></li>`)}</ul>`;
  const isShown = tone === "bad" || addresses.length <= maxOpen;
  return markup`<section class="guard ${tone}"><h2>${title} (${addresses.length}) <span class="dim">${note}</span></h2>${isShown ? list : folded(`All ${addresses.length} addresses`, list)}</section>`;
}

function card(title: string, ...content: readonly (Markup | false | undefined)[]): Markup {
  return markup`<section class="card"><h2>${title}</h2>${content}</section>`;
}

function censusCard({ resources, values, meanings, notes }: CensusView): Markup {
  const rows = [
    ...resources.map(({ count, word }) => markup`<dt>${count}</dt><dd>${word}</dd>`),
    ...values.map(
      ({ count, word }) => markup`<dt>${count}</dt><dd>${count === 1 ? "value" : "values"} ${word}</dd>`,
    ),
  ];
  return card(
    "Checked",
    markup`<dl>${rows}</dl>`,
    ...[...meanings, ...notes].map((text) => markup`<p class="dim">${text}</p>`),
  );
}

function disruptionCard({ disruption: sums }: ReportView): Markup {
  const parts = sums.flatMap(({ disruption, count, blocked }) => [
    { amount: count, tone: disruptionWords[disruption][1] },
    { amount: blocked, tone: "quiet" as const },
  ]);
  const items = sums.map(({ disruption, count, blocked }) => {
    const [word, tone] = disruptionWords[disruption];
    const more = blocked === 0 ? "" : ` (and ${blocked} blocked)`;
    return markup`<li>${count === 0 ? chip(`${blocked} ${word}, blocked`, "quiet") : chip(`${count} ${word}${more}`, tone)}</li>`;
  });
  return card("Disruption", barHtml(parts), markup`<ul class="legend">${items}</ul>`);
}

/** Steps of the chain that are listed; the others are counted. */
const maxListed = 8;

function forecastCard({ impact, path }: ReportView): Markup {
  const tones: readonly Tone[] = ["careful", "quiet"];
  const parts = path.map((step, at) => ({ amount: step.seconds, tone: tones[at % 2] ?? "quiet" }));
  const rest = path.length - maxListed;
  return card(
    "Forecast",
    markup`<p class="big">${impact}</p>`,
    barHtml(parts),
    path.length > 0 &&
      markup`<p class="dim">What takes longest, step by step:</p><ol class="path">${path.slice(0, maxListed).map(pathItem)}</ol>`,
    rest > 0 && markup`<p class="dim">and ${amount(rest, "step")} more</p>`,
  );
}

function pathItem({ address, operation, verb, seconds, start }: ForecastStep): Markup {
  return markup`<li><span class="time">+${elapsedTime(start * 1000)}</span><span>${stepWords(operation, verb).doing} <span class="address">${address}</span> <small>${elapsedTime(seconds * 1000)}</small></span></li>`;
}

function remediesCard({ remedies }: ReportView): Markup {
  const items = remedies.map(
    ({ command, text }) =>
      markup`<li>${command !== undefined && markup`<code>${command}</code> `}${text}</li>`,
  );
  return card("Ways out", markup`<ul class="plain">${items}</ul>`);
}

const length = 1000;

/** A bar as wide as its column; the parts have their share of it. Nothing if there is no amount. */
function barHtml(parts: readonly { readonly amount: number; readonly tone: Tone }[]): Markup | undefined {
  const total = parts.reduce((sum, part) => sum + part.amount, 0);
  if (total === 0) return undefined;
  let at = 0;
  const rects = parts.map((part) => {
    const width = (part.amount / total) * length;
    at += width;
    return markup`<rect class="${part.tone}" x="${(at - width).toFixed(1)}" y="0" width="${width.toFixed(1)}" height="14"/>`;
  });
  return markup`<svg class="bar" viewBox="0 0 ${length} 14" preserveAspectRatio="none" aria-hidden="true">${rects}</svg>`;
}
