/** @module Writes the cards of a plan page: what was checked, who is disturbed, how long it takes. */
import type { Census, ForecastStep } from "../../model/plan.ts";
import { partialText } from "../partial-lists.ts";
import { probeTexts } from "../probe-census.ts";
import { stepWords } from "../progress-text.ts";
import type { PlanView } from "../view/plan-view.ts";
import { aboutTime, amount, censusMeanings, elapsedTime, sourceWords } from "../words.ts";
import { chip, disruptionWords, type Tone } from "./action-words.ts";
import { type Markup, markup } from "./markup.ts";

/** The names of everything that is disrupted, and the cards of a plan; those about the impact only where there are changes. */
export function overviewHtml({ affected, census, disruption, forecast, severity }: PlanView): Markup {
  const impact = severity === "nothing" ? [] : [disruptionCard(disruption), forecastCard(forecast)];
  return markup`${affected.map(affectedCard)}<div class="cards">${[censusCard(census), ...impact]}</div>`;
}

/** Addresses of a card that are shown without a click; databases whose data is lost are never folded. */
const mostOpen = 50;

function affectedCard({ title, note, severity, addresses }: PlanView["affected"][number]): Markup {
  const list = markup`<ul class="names">${addresses.map((address) => markup`<li><span class="address">${address}</span></li>`)}</ul>`;
  const shown =
    severity === "bad" || addresses.length <= mostOpen
      ? list
      : markup`<details><summary>All ${addresses.length} addresses</summary>${list}</details>`;
  return markup`<section class="guard ${severity}"><h2>${title} (${addresses.length}) <span class="dim">${note}</span></h2>${shown}</section>`;
}

/** Numbers of resources and the sources of their values. */
export function censusCard(census: Census): Markup {
  const { declared, checked, skipped, unmanaged, fields } = census;
  const asked = probeTexts(census);
  const partial = partialText(census);
  const sources = (["probed", "described", "echoed", "recorded"] as const).filter(
    (source) => fields[source] > 0,
  );
  const rows: readonly (readonly [number, string])[] = [
    [declared, "declared"],
    [checked, "checked"],
    ...(skipped === 0 ? [] : [[skipped, "skipped"] as const]),
    [unmanaged, partial === undefined ? "unmanaged" : "unmanaged, possibly more"],
    ...sources.map(
      (source) =>
        [fields[source], `${fields[source] === 1 ? "value" : "values"} ${sourceWords[source]}`] as const,
    ),
  ];
  return markup`<section class="card"><h2>Checked</h2><dl>${rows.map(([count, word]) => markup`<dt>${count}</dt><dd>${word}</dd>`)}</dl>${[...censusMeanings(fields), ...asked, ...(partial === undefined ? [] : [partial])].map((text) => markup`<p class="dim">${text}</p>`)}</section>`;
}

function disruptionCard(sums: PlanView["disruption"]): Markup {
  const parts = sums.flatMap(({ disruption, count, blocked }) => [
    { amount: count, tone: disruptionWords[disruption].tone },
    { amount: blocked, tone: "quiet" as const },
  ]);
  const items = sums.map(({ disruption, count, blocked }) => {
    const { word, tone } = disruptionWords[disruption];
    const text =
      count === 0
        ? `${blocked} ${word}, blocked`
        : `${count} ${word}${blocked === 0 ? "" : ` (and ${blocked} blocked)`}`;
    return markup`<li>${chip(text, count === 0 ? "quiet" : tone)}</li>`;
  });
  return markup`<section class="card"><h2>Disruption</h2>${barHtml(parts)}<ul class="legend">${items}</ul></section>`;
}

/** Steps of the chain that are listed; the others are counted. */
const listed = 8;

function forecastCard({ restarts, replacements, seconds, path }: PlanView["forecast"]): Markup {
  const tones: readonly Tone[] = ["careful", "quiet"];
  const parts = path.map((step, at) => ({ amount: step.seconds, tone: tones[at % 2] ?? "quiet" }));
  const rest = path.length - listed;
  return markup`<section class="card"><h2>Forecast</h2>
<p class="big">${aboutTime(seconds)}, ${amount(restarts, "restart")}, ${amount(replacements, "replacement")}</p>${barHtml(parts)}
${path.length > 0 && markup`<p class="dim">What takes longest, step by step:</p><ol class="path">${path.slice(0, listed).map(pathItem)}</ol>`}
${rest > 0 && markup`<p class="dim">and ${amount(rest, "step")} more</p>`}</section>`;
}

function pathItem({ address, operation, verb, seconds, start }: ForecastStep): Markup {
  return markup`<li><span class="time">+${elapsedTime(start * 1000)}</span><span>${stepWords(operation, verb).doing} <span class="address">${address}</span> <small>${elapsedTime(seconds * 1000)}</small></span></li>`;
}

/** One part of a bar. */
interface BarPart {
  readonly amount: number;
  readonly tone: Tone;
}

const length = 1000;

/** A bar as wide as its column; the parts have their share of it. Nothing where there is no amount. */
function barHtml(parts: readonly BarPart[]): Markup | undefined {
  const total = parts.reduce((sum, { amount }) => sum + amount, 0);
  if (total === 0) return undefined;
  let at = 0;
  const rects = parts.map(({ amount, tone }) => {
    const width = (amount / total) * length;
    at += width;
    return markup`<rect class="${tone}" x="${(at - width).toFixed(1)}" y="0" width="${width.toFixed(1)}" height="14"/>`;
  });
  return markup`<svg class="bar" viewBox="0 0 ${length} 14" preserveAspectRatio="none" aria-hidden="true">${rects}</svg>`;
}
