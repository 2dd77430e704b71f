/** @module Writes the addresses of a block: one in its title, many in a list that folds. */
import type { AddressView } from "../view/block-view.ts";
import { commonName } from "../view/common-name.ts";
import { type Markup, markup } from "./markup.ts";

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
