/** @module Formats an error as text for people. */
import type { GraphformError } from "../model/errors.ts";
import { escapeText } from "./escape.ts";
import { makePalette, type Palette } from "./palette.ts";

/** An error with its hint. Ends with a line break. */
export function errorText({ message, hint }: GraphformError, palette: Palette = makePalette(false)): string {
  const first = `${palette.red("error:")} ${escapeText(message)}\n`;
  return hint === undefined ? first : `${first}${palette.cyan("hint:")} ${escapeText(hint)}\n`;
}
