/** @module Writes one block of equal drift. */
import type { DriftClass, Happening } from "../../model/drift.ts";
import { amount } from "../amounts.ts";
import { sinceText, timeText } from "../time-text.ts";
import type { DriftBlockView } from "../view/drift-block-view.ts";
import type { DriftFieldView } from "../view/drift-field-view.ts";
import { chip } from "./action-words.ts";
import { addressList, addressTitle, placeOf } from "./address-list.ts";
import type { BlockPlace } from "./block-html.ts";
import { fieldTable } from "./field-table.ts";
import { type Markup, markup } from "./markup.ts";

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
export function driftBlockHtml(block: DriftBlockView, { id, tone, open }: BlockPlace): Markup {
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
