/** @module Writes one block of equal changes. */
import type { Guard } from "../../model/plan.ts";
import type { BlockView } from "../view/block-view.ts";
import { actionWords, chip, chipsOf, type Tone } from "./action-words.ts";
import { addressList, addressTitle, placeOf } from "./address-list.ts";
import { fieldTable } from "./field-table.ts";
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
