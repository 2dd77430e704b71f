/** @module Formats one block of equal changes as lines of a diff. */

import { escapeText } from "../escape.ts";
import type { AddressView, BlockView } from "../view/block-view.ts";
import type { FieldView, OutputView } from "../view/field-view.ts";
import type { NoteView } from "../view/note-view.ts";
import { amount, sourceNote } from "../words.ts";

/** Length of a block. A short one has neither its fields nor most of its addresses, and says how many. */
export type Detail = "full" | "short";

/** Addresses that a block of each length lists. */
const listed: { readonly [detail in Detail]: number } = { full: 50, short: 5 };

/** Longest sentence, in characters. */
const longest = 1000;

/** The lines of a block, each escaped and without a line break. The first character colours a line. */
export function blockLines(block: BlockView, detail: Detail): readonly string[] {
  const { action, addresses, reason, disruption, phase, waysOn, guards, backupFirst, unchecked } = block;
  const [first, ...others] = addresses;
  const head =
    first === undefined || others.length > 0
      ? `${action} ${amount(addresses.length, "resource")}`
      : `${action} ${addressText(first)}`;
  const felt = disruption === "none" ? "" : ` · ${disruption.replace("-", " ")}`;
  const lines = [
    `# ${sentence(reason)}${felt}`,
    ...(phase === undefined ? [] : [`! ${sentence(phase.text)}`]),
    ...wayLines(waysOn),
    ...(backupFirst ? ["# backed up first: nothing is deleted before the backup is complete"] : []),
    ...guards.flatMap(({ message, lift }) => [`! blocked: ${sentence(message)}`, ...wayLines(lift)]),
    ...fieldsLines([...block.fields, ...block.drifted], detail),
    ...(unchecked.length === 0
      ? []
      : [`! not shown by the service, taken from your file: ${sentence(unchecked.join(", "))}`]),
  ];
  if (others.length === 0) return [`@@ ${head} @@`, ...lines];
  const hasPlaceholder = lines.some((line) => /\b(?:ADDRESS|ID|NAME|KEY|PREVIOUS)\b/.test(line));
  return [
    `@@ ${head} @@`,
    ...addressLines(addresses, detail, block.gone && detail === "full" ? addresses.length : undefined),
    ...(hasPlaceholder ? ["# words in capitals stand for those of each resource"] : []),
    ...lines,
  ];
}

/** The lines of a note on unchanged resources. */
export function noteLines({ addresses, text, waysOn, drifted }: NoteView): readonly string[] {
  const said = [`! ${sentence(text)}`, ...wayLines(waysOn)];
  return [...addressLines(addresses, "full"), ...said, ...drifted.flatMap(fieldLines)];
}

/** A way out; nothing where there is none to name. */
export function wayLines(text: string | undefined): readonly string[] {
  return text === undefined ? [] : [`! way out: ${sentence(text)}`];
}

/** The lines of a changed output. */
export function outputLines({ name, action, before, after, note }: OutputView): readonly string[] {
  const path = escapeText(name, 200);
  const more = note === undefined ? "" : `  # ${sentence(note)}`;
  if (action === "missing") return [`! ${path}: ${after}${more}`];
  return [
    ...(before === undefined ? [] : [`- ${path}: ${before}`]),
    ...(action === "delete" ? [] : [`+ ${path}: ${after}${more}`]),
  ];
}

/** The first addresses of a block, each escaped on one line, and the number of the others. */
export function addressLines(
  addresses: readonly AddressView[],
  detail: Detail,
  most: number = listed[detail],
): readonly string[] {
  const shown = addresses.slice(0, most);
  const left = addresses.length - shown.length;
  return [
    ...shown.map((address) => `  ${addressText(address)}`),
    ...(left === 0 ? [] : [`  and ${left} more`]),
  ];
}

/** An address with its id and place, escaped. */
export function addressText({ address, id, previous, where }: AddressView): string {
  return [
    escapeText(address, 300),
    ...(id === undefined ? [] : [`(${escapeText(id, 100)})`]),
    ...(previous === undefined ? [] : [`from ${escapeText(previous, 300)}`]),
    ...(where === undefined ? [] : [escapeText(`${where.file}:${where.line}`, 300)]),
  ].join(" ");
}

function fieldsLines(fields: readonly FieldView[], detail: Detail): readonly string[] {
  if (fields.length === 0) return [];
  if (detail === "short") return [`# ${amount(fields.length, "field")} left out`];
  return fields.flatMap(fieldLines);
}

/** The lines of one field, escaped. */
export function fieldLines(field: FieldView): readonly string[] {
  const { path, role, before, after, source, afterSource, notes } = field;
  const by = sourceNote(afterSource);
  const name = escapeText(path, 200);
  const from = sourceNote(source);
  const note = notes.length === 0 ? "" : `  # ${sentence(notes.join(", "))}`;
  if (role === "drifted") return [`! ${name}: ${before ?? ""}${from} → ${after}${by}${note}`];
  return [...(before === undefined ? [] : [`- ${name}: ${before}${from}`]), `+ ${name}: ${after}${note}`];
}

function sentence(text: string): string {
  return escapeText(text, longest);
}

/** A code span that no text can end. Control characters are visible, a long text loses its middle. */
export function codeSpan(text: string, maxLength = 300): string {
  const shown = escapeText(text, maxLength);
  if (shown.trim() === "") return "(empty)";
  const ticks = "`".repeat(longestRun(shown) + 1);
  const room = /^`|`$|^ .* $/.test(shown) ? " " : "";
  return `${ticks}${room}${shown}${room}${ticks}`;
}

/** A fenced block that no line can end. The lines have no line breaks. */
export function fence(language: string, lines: readonly string[]): string {
  const ticks = "`".repeat(Math.max(2, ...lines.map(longestRun)) + 1);
  return [`${ticks}${language}`, ...lines, ticks].join("\n");
}

/** Length of the longest run of backticks. */
function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}
