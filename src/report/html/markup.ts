/** @module Writes markup from templates that escape every text by themselves. */
import { html, raw } from "hono/html";
import { escapeText } from "../escape.ts";

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
  return isList(part) ? part.map(visible) : part;
}

function isList(part: Part): part is readonly Part[] {
  return Array.isArray(part);
}
