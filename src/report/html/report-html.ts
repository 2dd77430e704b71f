/** @module Writes the view of a plan or a drift report, or the error that kept it from being made, as a page of HTML. */
import { type GraphformError, isManifestError } from "../../model/errors.ts";
import type { Json } from "../../model/json.ts";
import type { ForecastStep } from "../../model/plan.ts";
import { stepWords } from "../apply-text.ts";
import { erroredDriftJson } from "../drift-json.ts";
import { erroredPlanJson, failureWords } from "../problems.ts";
import type { RedactedPlan } from "../redact.ts";
import type { ComparisonView, DifferenceView } from "../view/comparison.ts";
import {
  type AffectedView,
  type BlockView,
  type CensusView,
  importTitle,
  type ListView,
  type ReportView,
  type Tone,
} from "../view/report-view.ts";
import { amount, elapsedTime, timeText } from "../words.ts";
import {
  chip,
  disruptionWords,
  fieldTable,
  folded,
  groupsHtml,
  type Markup,
  markup,
  section,
} from "./block-html.ts";
import { type PageAssets, pageText } from "./page.ts";
import { pictureHtml } from "./picture.ts";

export interface PageOptions {
  readonly assets: PageAssets;
  readonly data: Json;
  readonly plan?: RedactedPlan;
  readonly earlier?: Earlier | undefined;
}

/** A comparison with an earlier plan, and the name of its file. */
export interface Earlier {
  readonly view: ComparisonView;
  readonly file: string;
}

/** One file that loads nothing and is whole without scripts. Contains no secrets. */
export function reportHtml(view: ReportView, { assets, data, plan, earlier }: PageOptions): string {
  const { report, name, verdict, fingerprint, serial, groups, lists, outputs, imports } = view;
  const blocks = groups.flatMap((group) => group.blocks);
  const listed = (isOpen: boolean): readonly Markup[] =>
    lists.flatMap((list, at) => (list.isOpen === isOpen ? [listHtml(list, `list-${at}`)] : []));
  const parts = {
    title: `${name}: ${verdict}`,
    header: headerOf(view),
    main: markup`${[
      cardsHtml(view),
      earlier && comparisonHtml(earlier),
      // A verdict of no drift rests on these.
      ...listed(false),
      filtersHtml(report, blocks),
      groupsHtml(groups),
      ...listed(true),
      imports.length > 0 &&
        markup`<section class="guard careful"><h2>${importTitle}</h2><pre>${imports.join("\n")}</pre></section>`,
      outputs.length > 0 && section("outputs", "Outputs", fieldTable(outputs, "Changed outputs")),
      plan && pictureHtml(plan, view),
    ]}`,
    footer: markup`<p class="dim">Made by graphform ${report}, which changes nothing. ${fingerprint !== "" && markup`From serial ${serial} of the state, fingerprint <code>${fingerprint}</code>. `}The report as JSON, as <code>${report} --json</code> prints it, is in the element <code>report-json</code> of this file.</p>`,
    data,
  };
  return pageText(parts, assets);
}

function headerOf(view: ReportView): Markup {
  const { title, name, timestamp, tone, verdict, next, seen, incomplete, counts } = view;
  const chips = counts.filter(({ count }) => count > 0);
  return markup`<p class="dim">${title} <strong>${name}</strong> · <time datetime="${timestamp}">${timeText(timestamp)}</time></p>
<h1 class="${tone}">${verdict}</h1>
<p class="next">${next.command !== undefined && markup`<span>Next:</span> <code>${next.command}</code>`} <span>${next.text}</span></p>
${seen !== "" && markup`<p class="dim">${seen}</p>`}
${incomplete !== "" && markup`<p class="facts">${chip("incomplete", "careful")} ${incomplete}.</p>`}
${chips.length > 0 && markup`<ul class="facts">${chips.map((one) => markup`<li>${chip(`${one.count} ${one.word}`, one.tone)}</li>`)}</ul>`}`;
}

function listHtml({ title, items, remedy }: ListView, id: string): Markup {
  const rows = items.map(
    ({ is, name, text }) =>
      markup`<li>${chip(is, "careful")} <span class="address">${name}</span> ${text}</li>`,
  );
  const list = markup`<ul class="plain">${rows}</ul>`;
  return section(
    id,
    `${title} (${items.length})`,
    remedy !== undefined && markup`<p>Way out: ${remedy}.</p>`,
    items.length <= maxOpen.items ? list : folded(`All ${items.length}`, list),
  );
}

/** The filters, if there is more than one block to filter. The script keeps them in the URL; a page without scripts hides them. */
function filtersHtml(report: ReportView["report"], blocks: readonly BlockView[]): Markup | undefined {
  if (blocks.length < 2) return undefined;
  const choice = (label: string, name: string, of: (block: BlockView) => string): Markup | undefined => {
    const values = [...new Set(blocks.map(of))].sort();
    if (values.length < 2) return undefined;
    return markup`<label>${label}<select name="${name}"><option value="">all</option>${values.map((value) => markup`<option value="${value}">${value.replaceAll("-", " ")}</option>`)}</select></label>`;
  };
  const isPlan = report === "plan";
  const choices = [
    choice(isPlan ? "Action" : "Happened", "action", ({ word }) => word),
    choice("Disruption", "disruption", ({ disruption }) => disruption),
    choice("Kind", "kind", ({ kind }) => kind),
    isPlan &&
      markup`<label class="tick"><input type="checkbox" name="blocked" value="yes">blocked only</label>`,
  ];
  return markup`<form class="filters" role="search" aria-label="Filter the ${isPlan ? "changes" : "drift"}" hidden>
<label>Address or text<input type="search" name="text" autocomplete="off"></label>
${choices}
<button type="button" data-fold="open">Open all</button><button type="button" data-fold="close">Close all</button>
<span role="status"></span></form>`;
}

function comparisonHtml({ view, file }: Earlier): Markup {
  const { differences, same, isSame, timestamp, name } = view;
  const total = differences.reduce((sum, { addresses }) => sum + addresses.length, 0);
  const found = `${amount(total, "difference")}, ${amount(same, "change")} as before.`;
  const changed = total === 0 ? "The same changes, planned from another state." : found;
  return section(
    "comparison",
    "Compared with an earlier plan",
    markup`<p>${isSame ? "The same plan." : changed} <span class="dim"><code>${file}</code>, a plan for ${name} of ${timeText(timestamp)}</span></p>`,
    total > 0 &&
      folded(
        "The differences",
        markup`<div class="differences">${differences.map(differenceHtml)}</div>`,
        differences.length <= maxOpen.differences,
      ),
  );
}

function differenceHtml({ is, addresses, facts }: DifferenceView): Markup {
  const tone = is === "gone" ? "quiet" : "careful";
  const [first = "", ...others] = addresses;
  const items = others.map((address) => markup`<li><span class="address">${address}</span></li>`);
  const more =
    others.length > 0 && folded(`and ${others.length} more`, markup`<ul class="addresses">${items}</ul>`);
  return markup`<div class="block ${tone}"><div class="body"><p>${chip(is, tone)} <strong class="address">${first}</strong></p>${more}<ul class="plain">${facts.map((fact) => markup`<li>${fact}</li>`)}</ul></div></div>`;
}

/** A page that says why there is no plan or no drift report, with the document that `--json` prints then. */
export function failureHtml(error: GraphformError, assets: PageAssets, report: "plan" | "drift"): string {
  const { title, text } = failureWords[report];
  const { message, hint } = error;
  const problems = (isManifestError(error) ? error.problems : []).map(
    (one) =>
      markup`<li><code>${one.range.file}:${one.range.start.line}</code> ${one.severity}: ${one.message}${one.hint !== undefined && markup` <span class="dim">${one.hint}</span>`}</li>`,
  );
  const parts = {
    title,
    header: markup`<h1 class="bad">${title}: ${message}</h1>${hint !== undefined && markup`<p>Way out: ${hint}</p>`}`,
    main: markup`<ul class="plain">${problems}</ul>`,
    footer: markup`<p class="dim">${text}</p>`,
    data: report === "plan" ? erroredPlanJson(error) : erroredDriftJson(error),
  };
  return pageText(parts, assets);
}

/** The names of everything that is disrupted, and the cards; those about the impact only if there are changes. */
function cardsHtml(view: ReportView): Markup {
  const { affected, census, impact, remedies } = view;
  const cards = [
    censusCard(census),
    ...(impact === "" ? [] : [disruptionCard(view), forecastCard(view)]),
    ...(remedies.length === 0 ? [] : [remediesCard(view)]),
  ];
  return markup`${affected.map(affectedHtml)}<div class="cards">${cards}</div>`;
}

/** Entries that are shown without a click. Databases whose data is lost are never folded. */
const maxOpen = { items: 20, differences: 3, addresses: 50 };

function affectedHtml({ title, note, tone, addresses }: AffectedView): Markup {
  const list = markup`<ul class="names">${addresses.map((address) => markup`<li><span class="address">${address}</span></li>`)}</ul>`;
  const isShown = tone === "bad" || addresses.length <= maxOpen.addresses;
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
