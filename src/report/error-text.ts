/** @module Formats an error as text for people, and words a report that could not be made. */
import type { GraphformError } from "../model/errors.ts";
import { escapeText } from "./escape.ts";
import { makePalette, type Palette } from "./palette.ts";

/** An error with its hint. Ends with a line break. */
export function errorText({ message, hint }: GraphformError, palette: Palette = makePalette(false)): string {
  const first = `${palette.red("error:")} ${escapeText(message)}\n`;
  return hint === undefined ? first : `${first}${palette.cyan("hint:")} ${escapeText(hint)}\n`;
}

/** Title and verdict of each report that could not be made. */
export const failureWords = {
  plan: { title: "No plan", text: "The plan could not be made. Nothing was changed." },
  drift: {
    title: "Drift is not known",
    text: "Nobody could look. That proves nothing: neither drift nor its absence.",
  },
} as const;
