/** @module Edits the texts of a manifest, one adopted field after the other. */
import { fileTrouble } from "../../files/file-trouble.ts";
import { replaceText } from "../../files/write-result.ts";
import {
  type AdoptRefusal,
  adoptValue,
  type Edit,
  editedText,
  isAdoptRefusal,
} from "../../manifest/adopt/adopt-value.ts";
import { fieldKeys } from "../../manifest/locate.ts";
import { parseManifest } from "../../manifest/parse.ts";
import { excerptsOf } from "../../manifest/problems/excerpt.ts";
import { plainFields } from "../../manifest/problems/plain-fields.ts";
import type { Layer, SourceFile } from "../../manifest/source.ts";
import { type Address, type AddressParts, parseAddress } from "../../model/address.ts";
import { GraphformError } from "../../model/errors.ts";
import { fieldRows, rowAt } from "../../model/field-schema.ts";
import type { Json } from "../../model/json.ts";
import type { KindRegistry } from "../../model/kind.ts";
import type { Manifest } from "../../model/manifest.ts";
import { asTyped } from "../../model/values.ts";
import { escapeText } from "../../report/typeset.ts";

export interface AdoptedField {
  readonly address: Address;
  readonly parts: AddressParts;
  readonly kind: string;
  readonly path: string;
  readonly value: Json;
  /** The running object itself shows the value. */
  readonly isProbed: boolean;
}

/** The lines of one edit, before and after, as they may be shown. */
export interface ChangedLines {
  readonly file: string;
  readonly line: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

type Sources = readonly SourceFile[];

/** Adopts each field in the texts. Throws `adopt-refused` if one cannot be written for its resource alone. */
export function editSources(
  sources: Sources,
  fields: readonly AdoptedField[],
  manifest: Pick<Manifest, "desired">,
  kinds: KindRegistry,
): { readonly sources: Sources; readonly changed: readonly ChangedLines[] } {
  let texts = sources;
  const changed: ChangedLines[] = [];
  for (const field of fields) {
    const { address, path } = field;
    const result = editOf(parseManifest(texts).layers, field, manifest, kinds);
    if (isAdoptRefusal(result)) {
      const { where, message, hint } = result;
      const place = where === undefined ? "" : `${where.file}:${where.start.line}: `;
      throw new GraphformError(
        "adopt-refused",
        `${place}${address} ${escapeText(path, 200)} cannot be adopted: ${escapeText(message)}`,
        { hint: `${hint}; nothing was written` },
      );
    }
    const lines = changedLines(result);
    const before = shownLines(texts, lines, lines.before.length, kinds);
    const text = editedText(result);
    texts = texts.map((source) => (source.path === result.layer.file ? { ...source, text } : source));
    changed.push({ ...lines, before, after: shownLines(texts, lines, lines.after.length, kinds) });
  }
  return { sources: texts, changed };
}

/** The edit that adopts a field, or the reason against it. */
export function editOf(
  layers: readonly Layer[],
  { parts, kind, path, value }: AdoptedField,
  { desired }: Pick<Manifest, "desired">,
  kinds: KindRegistry,
): Edit | AdoptRefusal {
  const members = desired.filter((entry) => {
    const other = parseAddress(entry.address);
    return other?.section === parts.section && other.name === parts.name;
  });
  const { type } = rowAt(fieldRows(kinds.named(kind).schema), path);
  return adoptValue(layers, {
    address: parts,
    keys: fieldKeys(path),
    value: asTyped(value, type),
    members: members.length,
  });
}

/** Lines of a manifest as an excerpt shows them: a password may stand beside the value that is adopted. */
function shownLines(
  sources: Sources,
  { file, line }: ChangedLines,
  count: number,
  kinds: KindRegistry,
): readonly string[] {
  const { value, layers } = parseManifest(sources);
  const excerptOf = excerptsOf(layers, plainFields(value ?? {}, kinds.all));
  return Array.from({ length: count }, (_, at) => {
    const start = { line: line + at, column: 1 };
    return excerptOf({ file, start, end: start }) ?? "";
  });
}

/** The lines that an edit touches, without those that stay as they are at its end. */
function changedLines(edit: Edit): ChangedLines {
  const { layer, start, end } = edit;
  const after = editedText(edit);
  const before = layer.text;
  const from = before.lastIndexOf("\n", start - 1) + 1;
  const newline = before.indexOf("\n", Math.max(0, end));
  const tail = newline < 0 ? 0 : before.length - newline;
  const old = lines(before.slice(from, before.length - tail));
  const now = lines(after.slice(from, after.length - tail));
  const head = old.findIndex((line, at) => line !== now[at]);
  const same = head < 0 ? old.length : head;
  const most = Math.min(old.length, now.length) - same;
  let ending = 0;
  while (ending < most && old.at(-1 - ending) === now.at(-1 - ending)) ending += 1;
  return {
    file: layer.file,
    line: layer.written().lines.linePos(from).line + same,
    before: old.slice(same, old.length - ending),
    after: now.slice(same, now.length - ending),
  };
}

function lines(text: string): readonly string[] {
  return text.replaceAll("\r", "").split("\n");
}

/** Writes the files whose texts differ, and counts them. Throws `file-changed` or `file-unwritable`; files written until then are put back. */
export async function writeSources(sources: Sources, edited: Sources): Promise<number> {
  const before = new Map(sources.map(({ path, text }) => [path, text]));
  const after = new Map(edited.map(({ path, text }) => [path, text]));
  const written: [path: string, before: string, after: string][] = [];
  try {
    for (const [path, text] of before) {
      const next = after.get(path) ?? text;
      if (next === text) continue;
      if (!(await replaced(path, text, next))) {
        const message = `${escapeText(path, 300)} has changed meanwhile: nothing was written`;
        throw new GraphformError("file-changed", message, { hint: "run the command again" });
      }
      written.push([path, text, next]);
    }
    return written.length;
  } catch (error) {
    for (const [path, text, next] of written) await replaced(path, next, text);
    throw error;
  }
}

async function replaced(path: string, before: string, after: string): Promise<boolean> {
  return replaceText(path, before, after).catch((cause: unknown) => {
    const message = `cannot write ${escapeText(path, 300)}: ${fileTrouble(cause)}`;
    throw new GraphformError("file-unwritable", message, { cause });
  });
}
