/** @module Writes the fields of a change as a table. */
import type { Source } from "../../model/observed.ts";
import { sourceWords } from "../source-words.ts";
import type { FieldView } from "../view/field-view.ts";
import { type Markup, markup } from "./markup.ts";

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
