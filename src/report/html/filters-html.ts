/** @module Writes the form that filters the changes of a page; a page without scripts does not show it. */
import type { PlanView } from "../view/plan-view.ts";
import { type Markup, markup } from "./markup.ts";

/** The filters, where there is more than one block to filter. The script keeps them in the URL. */
export function filtersHtml({ groups }: Pick<PlanView, "groups">): Markup | undefined {
  const blocks = groups.flatMap((group) => group.blocks);
  if (blocks.length < 2) return undefined;
  return markup`<form class="filters" role="search" aria-label="Filter the changes" hidden>
<label>Address or text<input type="search" name="text" autocomplete="off"></label>
${choice(
  "Action",
  "action",
  blocks.map((block) => block.action),
)}
${choice(
  "Disruption",
  "disruption",
  blocks.map((block) => block.disruption),
)}
${choice(
  "Kind",
  "kind",
  blocks.map((block) => block.kind),
)}
<label class="tick"><input type="checkbox" name="blocked" value="yes">blocked only</label>
<button type="button" data-fold="open">Open all</button><button type="button" data-fold="close">Close all</button>
<span role="status"></span></form>`;
}

function choice(label: string, name: string, found: readonly string[]): Markup | undefined {
  const values = [...new Set(found)].sort();
  if (values.length < 2) return undefined;
  return markup`<label>${label}<select name="${name}"><option value="">all</option>${values.map((value) => markup`<option value="${value}">${value.replaceAll("-", " ")}</option>`)}</select></label>`;
}
