/** @module Writes the forms that filter the blocks of a page; a page without scripts does not show them. */
import type { DriftView } from "../view/drift-view.ts";
import type { PlanView } from "../view/plan-view.ts";
import { type Markup, markup } from "./markup.ts";

/** The filters of a plan, where there is more than one block to filter. The script keeps them in the URL. */
export function planFilters({ groups }: Pick<PlanView, "groups">): Markup | undefined {
  const blocks = groups.flatMap((group) => group.blocks);
  const choices = [
    choice(
      "Action",
      "action",
      blocks.map(({ action }) => action),
    ),
    choice(
      "Disruption",
      "disruption",
      blocks.map(({ disruption }) => disruption),
    ),
    choice(
      "Kind",
      "kind",
      blocks.map(({ kind }) => kind),
    ),
    markup`<label class="tick"><input type="checkbox" name="blocked" value="yes">blocked only</label>`,
  ];
  return form("Filter the changes", blocks.length, choices);
}

/** The filters of a drift report, in the same way. */
export function driftFilters({ groups }: Pick<DriftView, "groups">): Markup | undefined {
  const blocks = groups.flatMap((group) => group.blocks);
  const choices = [
    choice(
      "Happened",
      "action",
      blocks.map(({ what }) => what),
    ),
    choice(
      "Kind",
      "kind",
      blocks.map(({ kind }) => kind),
    ),
  ];
  return form("Filter the drift", blocks.length, choices);
}

function form(label: string, count: number, choices: readonly (Markup | undefined)[]): Markup | undefined {
  if (count < 2) return undefined;
  return markup`<form class="filters" role="search" aria-label="${label}" hidden>
<label>Address or text<input type="search" name="text" autocomplete="off"></label>
${choices}
<button type="button" data-fold="open">Open all</button><button type="button" data-fold="close">Close all</button>
<span role="status"></span></form>`;
}

function choice(label: string, name: string, found: readonly string[]): Markup | undefined {
  const values = [...new Set(found)].sort();
  if (values.length < 2) return undefined;
  return markup`<label>${label}<select name="${name}"><option value="">all</option>${values.map((value) => markup`<option value="${value}">${wordOf(value)}</option>`)}</select></label>`;
}

const words: { readonly [value: string]: string } = {
  unapplied: "not applied",
  unimportant: "does not matter",
};

function wordOf(value: string): string {
  return words[value] ?? value.replaceAll("-", " ");
}
