/** @module Writes markup that escapes every text: groups of blocks of equal changes or equal drift, and tables of fields. */
import { html, raw } from "hono/html";
import type { Disruption } from "../../model/field-schema.ts";
import type { Source } from "../../model/observed.ts";
import { escapeText } from "../typeset.ts";
import {
  type AddressView,
  type BlockView,
  commonName,
  type FieldRole,
  type FieldView,
  type GroupView,
  type RemarkView,
  type Tone,
} from "../view/report-view.ts";
import { sourceWords } from "../words.ts";

/** Markup that is safe to insert. Only `markup` and `trusted` make it. */
export type Markup = ReturnType<typeof raw>;

/** A part of a template. Text is escaped; nothing is written for `undefined` and `false`. */
export type Part = string | number | false | undefined | Markup | readonly Part[];

/** A template tag. Texts lose their meaning as markup, and their control and bidi characters become visible. */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const written = html(strings, ...parts.map(visible));
  if (written instanceof Promise) throw new Error("a template of a report waits for nothing");
  return written;
}

/** Text that is markup already. Nothing of a manifest or a service may be in it. */
export function trusted(text: string): Markup {
  return raw(text);
}

const longestText = 20_000;

/** Most texts: nothing in them could be made visible. */
const plain = /^[\x20-\x7e]*$/;

function visible(part: Part): unknown {
  if (typeof part === "string")
    return part.length <= longestText && plain.test(part) ? part : escapeText(part, longestText);
  return Array.isArray(part) ? part.map(visible) : part;
}

export const disruptionWords: { readonly [disruption in Disruption]: readonly [word: string, tone: Tone] } = {
  "data-loss": ["data loss", "bad"],
  downtime: ["downtime", "careful"],
  restart: ["restart", "careful"],
  none: ["no interruption", "good"],
};

export function chip(word: string, tone: Tone): Markup {
  return markup`<span class="chip ${tone}">${word}</span>`;
}

/** Content that is shown after a click on its title. */
export function folded(title: string, content: Markup, open = false): Markup {
  return markup`<details${open && markup` open`}><summary>${title}</summary>${content}</details>`;
}

export function section(id: string, title: string, ...content: readonly (Markup | false)[]): Markup {
  return markup`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${content}</section>`;
}

/** Addresses that are shown without a click. */
const maxOpenAddresses = 6;

/** Blocks of a group that are shown open unless they are bad. */
const maxOpen = 20;

/** More blocks than this are laid out only when they are looked at. */
const many = 100;

/** The groups with their blocks. Bad ones are open, others if there are few. */
export function groupsHtml(groups: readonly GroupView[]): readonly Markup[] {
  const size = groups.reduce((sum, { blocks }) => sum + blocks.length, 0) > many ? " many" : "";
  let before = 0;
  return groups.map(({ title, note, tone, count, blocks }, at) => {
    const first = before;
    before += blocks.length;
    const open = tone === "bad" || (tone === "careful" && blocks.length <= maxOpen);
    const id = `group-${at}`;
    return markup`<section class="group ${tone}${size}" aria-labelledby="${id}"><h2 id="${id}">${title} (${count})${note !== "" && markup` <span class="dim">${note}</span>`}</h2>
${blocks.map((block, place) => blockHtml(block, `change-${first + place}`, tone, open))}</section>`;
  });
}

/** A block that folds: signs and address in its title; reason, remarks, fields in its body. The filters read its data. */
function blockHtml(block: BlockView, id: string, tone: Tone, open: boolean): Markup {
  const { addresses, kind, word, sign, disruption, remarks } = block;
  const isBlocked = remarks.some(({ is }) => is === "blocked");
  const [first, ...others] = addresses;
  const title = others.length === 0 ? first?.address : commonName(addresses);
  const place = others.length === 0 ? first && placeText(first) : "";
  const chips = [
    chip(word, block.tone),
    disruption !== "none" && chip(...disruptionWords[disruption]),
    isBlocked && chip("blocked", "bad"),
  ];
  return markup`<details class="block ${tone}" id="${id}" data-count="${addresses.length}" data-kind="${kind}" data-action="${word}" data-disruption="${disruption}" data-blocked="${isBlocked ? "yes" : "no"}"${open && markup` open`}>
<summary><span class="sign" aria-hidden="true">${sign}</span><h3>${others.length > 0 && `${addresses.length} × `}<span class="address">${title}</span></h3>${chips}${place !== "" && markup`<small class="where">${place}</small>`}</summary>
<div class="body">${bodyOf(block)}</div></details>`;
}

function bodyOf({ addresses, reason, named, remarks, fields }: BlockView): readonly (Markup | false)[] {
  const events = remarks.filter(({ is }) => is === "event");
  const tables = [...Map.groupBy(fields, ({ role }) => captions[role])];
  return [
    markup`<p>${reason}.</p>`,
    ...remarks.filter(({ is }) => is !== "event").map(remarkHtml),
    events.length > 0 && markup`<ul class="plain">${events.map(({ text }) => markup`<li>${text}</li>`)}</ul>`,
    addresses.length > 1 && addressList(addresses, named),
    ...tables.map(([caption, rows]) =>
      rows[0]?.role === "new"
        ? folded(`${rows.length} fields`, fieldTable(rows, caption))
        : fieldTable(rows, caption),
    ),
  ];
}

const chips: { readonly [is in Exclude<RemarkView["is"], "blocked" | "event">]: readonly [string, Tone] } = {
  failed: ["failed", "bad"],
  pending: ["running", "careful"],
  "waiting-for-person": ["waiting for a person", "careful"],
  backup: ["backup", "good"],
  unchecked: ["not checked", "careful"],
};

function remarkHtml({ is, code, text, remedy }: RemarkView): Markup {
  if (is === "blocked")
    return markup`<div class="guard bad"><p><strong>Blocked:</strong> ${text} <small>(${code})</small></p><p>Way out: <code>${remedy}</code></p></div>`;
  const said = text !== "" && markup`<p>${is !== "event" && chip(...chips[is])} ${text}.</p>`;
  return markup`${said}${remedy !== undefined && markup`<p>Way out: ${remedy}.</p>`}`;
}

/** All addresses of a block of several, with ids and manifest lines. */
function addressList(addresses: readonly AddressView[], open: boolean): Markup {
  const items = addresses.map(
    (entry) =>
      markup`<li><span class="address">${entry.address}</span> <small>${placeText(entry)}</small></li>`,
  );
  const list = markup`<ul class="addresses">${items}</ul>`;
  return addresses.length <= maxOpenAddresses
    ? list
    : folded(`All ${addresses.length} addresses`, list, open);
}

function placeText({ id, where }: AddressView): string {
  return [id, where].filter((part) => part !== undefined).join(" · ");
}

const captions: { readonly [role in FieldRole]: string } = {
  new: "Fields of the new resource",
  changed: "Changed fields",
  replaces: "Changed fields",
  drifted: "Changed outside",
  unapplied: "Changed in the manifest, and not applied",
  unimportant: "Differs, and does not matter",
  removed: "Changed fields",
};

/** A table of fields with their values, sources and notes. The roles keep its meaning if a narrow page stacks its cells. */
export function fieldTable(fields: readonly FieldView[], caption: string): Markup {
  const heads = columnsOf(fields);
  const hasNotes = fields.some(({ notes }) => notes.length > 0);
  const titles = ["Field", ...heads, ...(hasNotes ? ["Note"] : [])];
  return markup`<table role="table"><caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${titles.map((title) => markup`<th role="columnheader" scope="col">${title}</th>`)}</tr></thead>
<tbody role="rowgroup">${fields.map((field) => fieldRow(field, heads, hasNotes))}</tbody></table>`;
}

function columnsOf(fields: readonly FieldView[]): readonly string[] {
  if (fields.every(({ role }) => role === "new")) return ["Value"];
  const isSeen = fields.every(({ role }) => role === "drifted" || role === "unimportant");
  return isSeen ? ["Last applied", "Now"] : ["Now", "After apply"];
}

function fieldRow(field: FieldView, heads: readonly string[], hasNotes: boolean): Markup {
  const { path, role, before, after, source, afterSource, notes } = field;
  const cell = (head: string | undefined, value: string | undefined, of: Source | undefined): Markup =>
    markup`<td role="cell" data-head="${head}:"><span class="value">${value}</span>${of !== undefined && markup`<small>${sourceWords[of]}</small>`}</td>`;
  return markup`<tr role="row" class="${role}"><th role="rowheader" scope="row"><code>${path}</code></th>
${heads.length > 1 && cell(heads[0], before, source)}${cell(heads.at(-1), after, afterSource)}
${hasNotes && markup`<td role="cell" class="note">${notes.join(", ")}</td>`}</tr>`;
}
