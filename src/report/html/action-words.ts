/** @module Names actions, disruptions and severities on report pages. */
import type { Disruption } from "../../model/field-schema.ts";
import type { Action } from "../../model/plan.ts";
import type { AddressView, BlockView } from "../view/block-view.ts";
import { commonName } from "../view/common-name.ts";
import { type Markup, markup } from "./markup.ts";

/** A class of the style sheet that gives an element its colours. */
export type Tone = "bad" | "careful" | "good" | "quiet";

/** Sign, word and colours of each action. The sign repeats the word for eyes that are used to Terraform. */
export const actionWords: {
  readonly [action in Action]: { readonly sign: string; readonly word: string; readonly tone: Tone };
} = {
  create: { sign: "+", word: "create", tone: "good" },
  update: { sign: "~", word: "update", tone: "careful" },
  replace: { sign: "±", word: "replace", tone: "bad" },
  delete: { sign: "−", word: "delete", tone: "bad" },
  adopt: { sign: "↳", word: "adopt", tone: "quiet" },
  move: { sign: "→", word: "move", tone: "quiet" },
  forget: { sign: "○", word: "forget", tone: "quiet" },
  keep: { sign: "=", word: "keep", tone: "quiet" },
};

/** Word and colours of each disruption. */
export const disruptionWords: {
  readonly [disruption in Disruption]: { readonly word: string; readonly tone: Tone };
} = {
  "data-loss": { word: "data loss", tone: "bad" },
  downtime: { word: "downtime", tone: "careful" },
  restart: { word: "restart", tone: "careful" },
  none: { word: "nobody interrupted", tone: "good" },
};

/** A word in its colours. */
export function chip(word: string, tone: Tone): Markup {
  return markup`<span class="chip ${tone}">${word}</span>`;
}

/** The words beside the address of a block: action, disruption, blocked. */
export function chipsOf({ action, disruption, guards }: BlockView): readonly Markup[] {
  const { word, tone } = actionWords[action];
  const felt = disruptionWords[disruption];
  return [
    chip(word, tone),
    ...(disruption === "none" ? [] : [chip(felt.word, felt.tone)]),
    ...(guards.length === 0 ? [] : [chip("blocked", "bad")]),
  ];
}

/** The title of equal changes: the address, or the number of them and the first. */
export function addressTitle(addresses: readonly AddressView[]): Markup {
  const [first] = addresses;
  if (addresses.length === 1) return markup`<span class="address">${first?.address}</span>`;
  return markup`${addresses.length} × <span class="address">${commonName(addresses)}</span>`;
}

/** Id and manifest line of a block of one. */
export function placeOf([first, ...others]: readonly AddressView[]): Markup | undefined {
  if (first === undefined || others.length > 0) return undefined;
  const parts = [first.id, whereText(first)].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : markup`<small class="where">${parts.join(" · ")}</small>`;
}

/** All addresses of a block of several, with ids and manifest lines; many of them fold, and are `open` or not. */
export function addressList(addresses: readonly AddressView[], open = false): Markup | undefined {
  if (addresses.length === 1) return undefined;
  const items = addresses.map((entry) => {
    const parts = [entry.id, whereText(entry)].filter((part) => part !== undefined);
    const place = parts.length === 0 ? undefined : markup` <small>${parts.join(" · ")}</small>`;
    return markup`<li><span class="address">${entry.address}</span>${place}</li>`;
  });
  const list = markup`<ul class="addresses">${items}</ul>`;
  if (addresses.length <= 6) return list;
  return markup`<details${open && markup` open`}><summary>All ${addresses.length} addresses</summary>${list}</details>`;
}

function whereText({ where }: AddressView): string | undefined {
  return where === undefined ? undefined : `${where.file}:${where.line}`;
}
