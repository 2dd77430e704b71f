/** @module Writes a value as YAML in the style of the value that it replaces. */
import { Document, isSeq, Scalar } from "yaml";
import type { Json } from "../../model/json.ts";

/** Characters that cannot be seen, or that change how the text around them is read. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A single value on one line, in the given style if that can hold it. `${` in a text is escaped: it is no expression. */
export function scalarText(value: Json, style: Scalar.Type | undefined): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const text = value.replaceAll("${", () => "$${");
  if (text.search(unsafe) >= 0 || style === Scalar.QUOTE_DOUBLE) return doubleQuoted(text);
  return style === Scalar.QUOTE_SINGLE ? `'${text.replaceAll("'", "''")}'` : plainText(text);
}

/** Without quotes if it is read as the same text, inside brackets too; otherwise in double quotes. */
export function plainText(text: string): string {
  const document = new Document([""]);
  const list = document.contents;
  if (!isSeq(list)) return doubleQuoted(text);
  list.flow = true;
  const scalar = new Scalar(text);
  scalar.type = Scalar.PLAIN;
  list.items[0] = scalar;
  const written = document.toString({ lineWidth: 0, flowCollectionPadding: false }).trimEnd().slice(1, -1);
  return written.includes("\n") ? doubleQuoted(text) : written;
}

function doubleQuoted(text: string): string {
  return JSON.stringify(text).replace(unsafe, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

/** A text as a block scalar like `old`, with its indentation and first comment; undefined if it cannot stand in one of this style. */
export function blockText(text: string, old: string, eol: string): string | undefined {
  const [, style, marks, rest] = /^([|>])([0-9+-]{0,2})([^\r\n]*)\r?\n/.exec(old) ?? [];
  const indent = /\n([ ]+)\S/.exec(old)?.[1];
  if (style === undefined || marks === undefined || indent === undefined || /[0-9]/.test(marks))
    return undefined;
  const escaped = text.replaceAll("${", () => "$${");
  const body = escaped.replace(/\n$/, "");
  const isOdd = body === "" || /^\s|\n$/.test(body) || body.replaceAll("\n", "").search(unsafe) >= 0;
  if (isOdd || (style === ">" && body.includes("\n"))) return undefined;
  const lines = body.split("\n").map((line) => (line === "" ? "" : indent + line));
  const chomping = escaped.endsWith("\n") ? "" : "-";
  return [`${style}${chomping}${rest ?? ""}`, ...lines, ""].join(eol);
}
