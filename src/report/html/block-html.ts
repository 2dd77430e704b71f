/** @module Writes one block of equal changes. */

import type { Source } from "../../model/observed.ts";
import type { Guard } from "../../model/plan.ts";
import type { BlockView } from "../view/block-view.ts";
import type { FieldView } from "../view/field-view.ts";
import { sourceWords } from "../words.ts";
import { actionWords, addressList, addressTitle, chip, chipsOf, placeOf, type Tone } from "./action-words.ts";
import { type Markup, markup } from "./markup.ts";

/** Place of a block on its page. */
export interface BlockPlace {
  /** Id of the element, for links to it. */
  readonly id: string;
  readonly tone: Tone;
  readonly open: boolean;
}

/** A block that folds: signs and address in its title; reason, guards, fields in its body. The filters read its data. */
export function blockHtml(block: BlockView, { id, tone, open }: BlockPlace): Markup {
  const { addresses, kind, action, disruption, guards } = block;
  const blocked = guards.length > 0 ? "yes" : "no";
  return markup`<details class="block ${tone}" id="${id}" data-count="${addresses.length}" data-kind="${kind}" data-action="${action}" data-disruption="${disruption}" data-blocked="${blocked}"${open && markup` open`}>
<summary><span class="sign" aria-hidden="true">${actionWords[action].sign}</span><h3>${addressTitle(addresses)}</h3>${chipsOf(block)}${placeOf(addresses)}</summary>
<div class="body">${bodyOf(block)}</div></details>`;
}

function bodyOf(block: BlockView): readonly (Markup | undefined)[] {
  const { addresses, reason, previous, backupFirst, phase, waysOn, forcedBy, unchecked } = {
    ...block,
    previous: block.addresses.length === 1 ? block.addresses[0]?.previous : undefined,
  };
  const moved =
    previous === undefined || block.action === "move"
      ? undefined
      : markup`, moved from <code>${previous}</code>`;
  return [
    markup`<p>${reason}${moved}.${forcedBy !== undefined && markup` <strong>Forced by <code>${forcedBy}</code>.</strong>`}</p>`,
    phase &&
      markup`<p>${chip(phase.is === "failed" ? "failed" : "not ready", phase.is === "failed" ? "bad" : "careful")} ${phase.text}</p>`,
    waysOn === undefined ? undefined : markup`<p>Way out: ${waysOn}.</p>`,
    backupFirst
      ? markup`<p>${chip("backup", "good")} Nothing is deleted before a backup is complete.</p>`
      : undefined,
    addressList(addresses, block.gone),
    ...block.guards.map(guardHtml),
    block.action === "create"
      ? folded(`${block.fields.length} fields`, fieldTable(block.fields, "Fields of the new resource"))
      : fieldTable(block.fields, "Changed fields"),
    fieldTable(block.drifted, "Changed outside, and left as it is"),
    unchecked.length === 0
      ? undefined
      : markup`<p>${chip("not checked", "careful")} Not shown by the service, taken from your file: ${unchecked.map((path, at) => markup`${at > 0 && ", "}<code>${path}</code>`)}.</p>`,
  ];
}

function guardHtml({ message, lift, code }: Guard): Markup {
  return markup`<div class="guard bad"><p><strong>Blocked:</strong> ${message} <small>(${code})</small></p><p>Way out: <code>${lift}</code></p></div>`;
}

function folded(title: string, content: Markup | undefined): Markup | undefined {
  return content === undefined ? undefined : markup`<details><summary>${title}</summary>${content}</details>`;
}

/** A table of fields with their values, sources and notes. The roles keep its meaning where a narrow page stacks its cells. */
export function fieldTable(fields: readonly FieldView[], caption: string): Markup | undefined {
  if (fields.length === 0) return undefined;
  const values = columnsOf(fields);
  const hasNotes = fields.some((field) => field.notes.length > 0);
  const heads = ["Field", ...values, ...(hasNotes ? ["Note"] : [])];
  return markup`<table role="table"><caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${heads.map((head) => markup`<th role="columnheader" scope="col">${head}</th>`)}</tr></thead>
<tbody role="rowgroup">${fields.map((field) => row(field, values, hasNotes))}</tbody></table>`;
}

function columnsOf(fields: readonly FieldView[]): readonly string[] {
  if (fields.every((field) => field.role === "new")) return ["Value"];
  return fields.every((field) => field.role === "drifted") ? ["Last applied", "Now"] : ["Now", "After apply"];
}

function row(field: FieldView, columns: readonly string[], hasNotes: boolean): Markup {
  const { path, role, before, after, source, afterSource, notes } = field;
  const last = columns.at(-1) ?? "";
  const first = markup`<td role="cell" data-head="${columns[0] ?? ""}:"><span class="value">${before}</span>${sourceText(source)}</td>`;
  return markup`<tr role="row" class="${role}"><th role="rowheader" scope="row"><code>${path}</code></th>
${columns.length > 1 && first}<td role="cell" data-head="${last}:"><span class="value">${after}</span>${sourceText(afterSource)}</td>
${hasNotes && markup`<td role="cell" class="note">${notes.join(", ")}</td>`}</tr>`;
}

function sourceText(source: Source | undefined): Markup | undefined {
  return source === undefined ? undefined : markup`<small>${sourceWords[source]}</small>`;
}
