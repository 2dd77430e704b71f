import { isGraphformError } from "../model/errors.ts";
import { escapeText } from "./escape.ts";
import { messageOf } from "./events.ts";
import { makePalette, type Palette } from "./palette.ts";

export interface ErrorTextOptions {
  readonly palette?: Palette;
  /** Adds the stack, for those who look for a mistake of ours. */
  readonly stack?: boolean;
}

/** Anything that was thrown, as people read it. Ends with a line break; no stack unless it is asked for. */
export function errorText(error: unknown, options: ErrorTextOptions = {}): string {
  const palette = options.palette ?? makePalette(false);
  const lines = isGraphformError(error)
    ? spoken(error.message, error.hint, palette)
    : spoken(
        `something happened that graphform did not expect: ${messageOf(error)}`,
        "this is a mistake of graphform; please report it, with what you ran and what --log FILE wrote",
        palette,
      );
  const stack = options.stack === true ? stackOf(error).map((line) => palette.dim(escapeText(line))) : [];
  return `${[...lines, ...stack].join("\n")}\n`;
}

function spoken(message: string, hint: string | undefined, palette: Palette): readonly string[] {
  const first = `${palette.red("error:")} ${escapeText(message)}`;
  return hint === undefined ? [first] : [first, `${palette.cyan("hint:")} ${escapeText(hint)}`];
}

function stackOf(error: unknown): readonly string[] {
  if (typeof error !== "object" || error === null || !("stack" in error)) return [];
  return String(error.stack).split("\n");
}
