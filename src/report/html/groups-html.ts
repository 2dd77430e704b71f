/** @module Writes the groups of a plan page, worst first, and what follows them: notes and outputs. */

import type { OutputView } from "../view/field-view.ts";
import type { NoteView } from "../view/note-view.ts";
import type { GroupView } from "../view/plan-view.ts";
import { addressList, addressTitle, chip, placeOf, type Tone } from "./action-words.ts";
import { blockHtml, fieldTable } from "./block-html.ts";
import { type Markup, markup } from "./markup.ts";

/** Blocks of a harmless group that are shown open. */
const mostOpen = 20;

/** More blocks than this are laid out only where they are looked at. */
const many = 100;

/** The groups with their blocks. Bad ones are open, others where there are few. */
export function groupsHtml(groups: readonly GroupView[]): readonly Markup[] {
  const size = groups.reduce((sum, { blocks }) => sum + blocks.length, 0) > many ? " many" : "";
  let before = 0;
  return groups.map(({ title, note, severity, count, blocks }, at) => {
    const first = before;
    before += blocks.length;
    const open = severity === "bad" || (severity === "careful" && blocks.length <= mostOpen);
    const id = `group-${at}`;
    return markup`<section class="group ${severity}${size}" aria-labelledby="${id}"><h2 id="${id}">${title} (${count})${note !== "" && markup` <span class="dim">${note}</span>`}</h2>
${blocks.map((block, place) => blockHtml(block, { id: `change-${first + place}`, tone: severity, open }))}</section>`;
  });
}

/** Unchanged resources that are worth a look. */
export function notesHtml(notes: readonly NoteView[]): Markup | undefined {
  if (notes.length === 0) return undefined;
  const items = notes.map(({ addresses, is, text, waysOn, drifted }) => {
    const tone: Tone = is === "failed" ? "bad" : "careful";
    const word = is === "pending" ? "running" : is.replaceAll("-", " ");
    return markup`<li class="block ${tone}"><div class="body"><p><strong>${addressTitle(addresses)}</strong> ${chip(word, tone)} ${text} ${placeOf(addresses)}</p>${waysOn !== undefined && markup`<p>Way out: ${waysOn}.</p>`}${addressList(addresses)}${fieldTable(drifted, "Changed outside")}</div></li>`;
  });
  return markup`<section aria-labelledby="notes"><h2 id="notes">Not ready, or changed outside</h2><ul class="notes">${items}</ul></section>`;
}

/** The outputs that change or cannot be read. */
export function outputsHtml(outputs: readonly OutputView[]): Markup | undefined {
  if (outputs.length === 0) return undefined;
  const rows = outputs.map(({ name, action, before, after, note }) => {
    const word = action === "missing" ? "cannot be read" : action;
    return markup`<tr role="row"><th role="rowheader" scope="row"><code>${name}</code></th><td role="cell" data-head="Now:">${before !== undefined && markup`<span class="value">${before}</span>`}</td><td role="cell" data-head="After apply:"><span class="value">${after}</span></td><td role="cell">${word}${note !== undefined && markup`<small>${note}</small>`}</td></tr>`;
  });
  const heads = ["Output", "Now", "After apply", "Change"].map(
    (head) => markup`<th role="columnheader" scope="col">${head}</th>`,
  );
  return markup`<section aria-labelledby="outputs"><h2 id="outputs">Outputs</h2><table role="table"><thead role="rowgroup"><tr role="row">${heads}</tr></thead><tbody role="rowgroup">${rows}</tbody></table></section>`;
}
