/** @module Formats the changes of a group as lines of text: equal changes of several resources are one block. */
import type { Change } from "../model/plan.ts";
import { bodyLines, changeLines, signOf } from "./change-lines.ts";
import { fieldRow } from "./field-lines.ts";
import { headline } from "./headline.ts";
import type { KindNames } from "./kind-words.ts";
import type { Page } from "./palette.ts";
import { type AddressView, type BlockView, blocksOf } from "./view/block-view.ts";
import { commonName } from "./view/common-name.ts";

/** Most addresses that a block lists. */
const listed = 6;

/** The blocks of these changes in their order, each as its lines. */
export function blockLines(
  changes: readonly Change[],
  names: KindNames,
  page: Page,
): readonly (readonly string[])[] {
  const byAddress = new Map(changes.map((change) => [change.address, change]));
  return blocksOf(changes, names).flatMap((block) => {
    const change = byAddress.get(block.addresses[0]?.address ?? "");
    if (change === undefined) return [];
    return [
      block.addresses.length === 1 ? changeLines(change, names, page) : foldedLines(block, change, page),
    ];
  });
}

/** One block for several resources: their number, what is equal, and their addresses. `first` is one of the changes. */
function foldedLines(block: BlockView, first: Change, page: Page): readonly string[] {
  const { addresses, reason, guards, fields, drifted } = block;
  const title = `${addresses.length} × ${commonName(addresses)}`;
  const isMoved = first.previousAddress !== undefined;
  const change = { ...first, reason, blocked: guards, ...(isMoved ? { previousAddress: "PREVIOUS" } : {}) };
  return [
    ...headline({ ...signOf(block), address: title, where: undefined }, page),
    ...addressLines(addresses, page),
    ...bodyLines(change, [fields.map(fieldRow), drifted.map(fieldRow)], page),
  ];
}

function addressLines(addresses: readonly AddressView[], page: Page): readonly string[] {
  const shown = addresses.length > listed + 1 ? addresses.slice(0, listed) : addresses;
  const more = addresses.length - shown.length;
  const where = ({ where: place }: AddressView) =>
    place === undefined ? undefined : { file: place.file, start: { line: place.line } };
  return [
    ...shown.flatMap((entry) => headline({ sign: "  ·", tone: "dim", ...entry, where: where(entry) }, page)),
    ...(more === 0 ? [] : [page.palette.dim(`    · and ${more} more: plan --json lists them`)]),
  ];
}
