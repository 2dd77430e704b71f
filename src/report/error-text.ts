/** @module Formats an error as text for people. */
import { isGraphformError } from "../model/errors.ts";
import { escapeText } from "./escape.ts";
import { messageOf } from "./events.ts";
import { makePalette, type Palette } from "./palette.ts";

/** Options of `errorText`. */
export interface ErrorTextOptions {
  readonly palette?: Palette;
  /** Adds the stack, to find a bug in graphform. */
  readonly stack?: boolean;
}

/** A thrown error with its hint. Ends with a line break. */
export function errorText(error: unknown, options: ErrorTextOptions = {}): string {
  const palette = options.palette ?? makePalette(false);
  const lines = isGraphformError(error)
    ? messageLines(error.message, error.hint, palette)
    : messageLines(
        `unexpected error: ${messageOf(error)}`,
        "this is a bug in graphform; please report it with the command and the output of --log FILE",
        palette,
      );
  const stack = options.stack === true ? stackOf(error).map((line) => palette.dim(escapeText(line))) : [];
  return `${[...lines, ...stack].join("\n")}\n`;
}

function messageLines(message: string, hint: string | undefined, palette: Palette): readonly string[] {
  const first = `${palette.red("error:")} ${escapeText(message)}`;
  return hint === undefined ? [first] : [first, `${palette.cyan("hint:")} ${escapeText(hint)}`];
}

function stackOf(error: unknown): readonly string[] {
  if (typeof error !== "object" || error === null || !("stack" in error)) return [];
  return String(error.stack).split("\n");
}
