/** @module Writes a drift report as a page of HTML. */
import { countUnread, type DriftClass, type Happening } from "../../model/drift.ts";
import { driftJson } from "../drift/drift-json.ts";
import { incompleteText } from "../probe-census.ts";
import type { ShownDrift } from "../shown.ts";
import type { DriftBlockView, DriftFieldView } from "../view/drift-block-view.ts";
import { type DriftGroupView, type DriftView, driftView } from "../view/drift-view.ts";
import { amount, type KindNames, sinceText, timeText } from "../words.ts";
import { addressList, addressTitle, chip, placeOf } from "./action-words.ts";
import { type BlockPlace, fieldTable } from "./block-html.ts";
import { driftFilters } from "./filters-html.ts";
import { type Markup, markup } from "./markup.ts";
import { censusCard } from "./overview-html.ts";
import { pageText, type Sha256 } from "./page.ts";

/** Blocks of a group that are shown open. */
const mostOpen = 20;

/** More blocks than this are laid out only where they are looked at. */
const many = 100;

/** The page of a drift report: one file that loads nothing and is whole without scripts. Contains no secrets. */
export function driftHtml(report: ShownDrift, names: KindNames, sha256: Sha256): string {
  const view = driftView(report, names);
  const parts = {
    title: `${view.name}: ${view.verdict}`,
    header: headerOf(view),
    main: markup`<div class="cards">${[censusCard(view.census), waysCard(view)]}</div>${[unsureHtml(view), driftFilters(view), ...groupsHtml(view.groups), unmanagedHtml(view)]}`,
    footer: markup`<p class="dim">Made by graphform drift, which changes nothing. The report as JSON, as <code>drift --json</code> prints it, is in the element <code>report-json</code> of this file.</p>`,
    data: driftJson(report, names),
  };
  return pageText(parts, sha256);
}

function headerOf(view: DriftView): Markup {
  const { name, timestamp, verdict, isDrift, seen, ways, complete, counts, census } = view;
  const next = ways.find(({ command }) => command !== undefined);
  const chips = [
    ...(counts.ours === 0 ? [] : [chip(`${counts.ours} not applied yet`, "quiet")]),
    ...(counts.cosmetic === 0 ? [] : [chip(`${counts.cosmetic} that do not matter`, "quiet")]),
  ];
  return markup`<p class="dim">Drift of <strong>${name}</strong> · <time datetime="${timestamp}">${timeText(timestamp)}</time></p>
<h1 class="${isDrift ? "bad" : "good"}">${verdict}</h1>
<p class="next">${next !== undefined && markup`<span>Next:</span> <code>${next.command}</code> <span>${next.text}</span>`}</p>
<p class="dim">${seen}</p>
${!complete && markup`<p class="facts">${chip("incomplete", "careful")} ${incompleteText(census, countUnread(census))}.</p>`}
${chips.length > 0 && markup`<ul class="facts">${chips.map((one) => markup`<li>${one}</li>`)}</ul>`}`;
}

function waysCard({ ways }: DriftView): Markup | undefined {
  if (ways.length === 0) return undefined;
  const items = ways.map(
    ({ command, text }) =>
      markup`<li>${command !== undefined && markup`<code>${command}</code> `}${text}</li>`,
  );
  return markup`<section class="card"><h2>Ways out</h2><ul class="plain">${items}</ul></section>`;
}

/** Everything that the report is not sure of, with the reason of each: before the groups, since a verdict rests on it. */
function unsureHtml({ census }: DriftView): Markup | undefined {
  const { notChecked, unfinished } = census;
  const items = [
    ...notChecked.map((entry) => ({ ...entry, is: "not checked" })),
    ...unfinished.map((entry) => ({ ...entry, is: "not at rest" })),
  ].map(
    ({ address, reason, is }) =>
      markup`<li>${chip(is, "careful")} <span class="address">${address}</span>: ${reason}</li>`,
  );
  if (items.length === 0) return undefined;
  const list = markup`<ul class="plain">${items}</ul>`;
  const shown =
    items.length <= mostOpen
      ? list
      : markup`<details><summary>All ${items.length} resources</summary>${list}</details>`;
  return markup`<section aria-labelledby="unsure"><h2 id="unsure">Not checked, or not at rest (${items.length})</h2>${shown}</section>`;
}

function groupsHtml(groups: readonly DriftGroupView[]): readonly Markup[] {
  const size = groups.reduce((sum, { blocks }) => sum + blocks.length, 0) > many ? " many" : "";
  let before = 0;
  return groups.map(({ title, note, severity, count, blocks }, at) => {
    const first = before;
    before += blocks.length;
    const open = severity !== "quiet" && blocks.length <= mostOpen;
    const id = `group-${at}`;
    return markup`<section class="group ${severity}${size}" aria-labelledby="${id}"><h2 id="${id}">${title} (${count})${note !== "" && markup` <span class="dim">${note}</span>`}</h2>
${blocks.map((block, place) => driftBlockHtml(block, { id: `change-${first + place}`, tone: severity, open }))}</section>`;
  });
}

function unmanagedHtml({ unmanaged, unmanagedWay }: DriftView): Markup | undefined {
  if (unmanaged.length === 0) return undefined;
  const items = unmanaged.map(
    ({ noun, id, name }) =>
      markup`<li>${noun} <code>${id}</code>${name !== undefined && markup` <span class="value">${name}</span>`}</li>`,
  );
  return markup`<section class="careful" aria-labelledby="unmanaged"><h2 id="unmanaged">Not declared (${unmanaged.length})</h2><p>Way out: ${unmanagedWay}.</p><ul class="plain">${items}</ul></section>`;
}

const signs: { readonly [what in Happening]: string } = {
  deleted: "−",
  failed: "!",
  stopped: "!",
  started: "!",
  changed: "!",
  renamed: "!",
  unapplied: "~",
  unimportant: "=",
};

/** A block that folds: what has happened and the address in its title; since when, who, and the fields in its body. */
function driftBlockHtml(block: DriftBlockView, { id, tone, open }: BlockPlace): Markup {
  const { addresses, kind, what, reason, waysOn, since, events, moreEvents } = block;
  const word = what === "unapplied" ? "not applied" : what === "unimportant" ? "does not matter" : what;
  const right = since === undefined ? "" : `; last seen right ${sinceText(since)}`;
  const body = [
    markup`<p>${reason}${right}.</p>`,
    waysOn !== undefined && markup`<p>Way out: ${waysOn}.</p>`,
    events.length > 0 &&
      markup`<ul class="plain">${events.map(eventHtml)}${moreEvents > 0 && markup`<li>and ${amount(moreEvents, "earlier event")}</li>`}</ul>`,
    addressList(addresses),
    fieldTable(ofClass(block, "outside"), "Changed outside"),
    fieldTable(ofClass(block, "ours"), "Changed in the manifest, and not applied"),
    fieldTable(ofClass(block, "cosmetic"), "Differs, and does not matter"),
  ];
  return markup`<details class="block ${tone}" id="${id}" data-count="${addresses.length}" data-kind="${kind}" data-action="${what}"${open && markup` open`}>
<summary><span class="sign" aria-hidden="true">${signs[what]}</span><h3>${addressTitle(addresses)}</h3>${chip(word, tone)}${placeOf(addresses)}</summary>
<div class="body">${body}</div></details>`;
}

function ofClass({ fields }: DriftBlockView, is: DriftClass): readonly DriftFieldView[] {
  return fields.filter((field) => field.class === is);
}

function eventHtml({ time, user, message }: DriftBlockView["events"][number]): Markup {
  return markup`<li><small>${timeText(time)}</small>${user !== undefined && markup` <strong>${user}</strong>`} ${message}</li>`;
}
