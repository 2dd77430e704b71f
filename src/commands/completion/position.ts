/** @module Finds the place on a command line that is to be completed. */

import type { Argument, Command, Option } from "commander";
import { defined } from "../../model/json.ts";

/** A place on a command line. */
export interface Position {
  readonly command: Command;
  /** Words of the command: `state mv`. */
  readonly path: string;
  /** The text that candidates begin with. */
  readonly current: string;
  /** Text of the word before that: `--target=`. */
  readonly before: string;
  /** Option whose value is to be completed. */
  readonly option?: Option;
  /** Argument to be completed. */
  readonly argument?: Argument;
  /** Long name of an option -> the values that were given before. */
  readonly given: ReadonlyMap<string, readonly string[]>;
}

/** Finds the position of the last word. Words may be quoted as in a shell; bash gives `=` as a word of its own. */
export function positionOf(program: Command, words: readonly string[]): Position {
  const plain = words.map(unquoted).filter((word) => word !== "=");
  const given = new Map<string, readonly string[]>();
  const give = (option: Option, value: string): void => {
    const name = option.long ?? "";
    given.set(name, [...(given.get(name) ?? []), value]);
  };
  let command = program;
  let path = "";
  let operands = 0;
  let open: Option | undefined;
  for (const word of plain.slice(0, -1)) {
    const [name = "", value] = /^(--[^=]+)=(.*)$/s.exec(word)?.slice(1) ?? [word];
    const child = command.commands.find((each) => each.name() === word);
    if (open !== undefined) {
      give(open, word);
      open = undefined;
    } else if (word.startsWith("-")) {
      const option = optionOf(command, name);
      if (option !== undefined && value !== undefined) give(option, value);
      else if (option?.required === true) open = option;
    } else if (child === undefined) operands += 1;
    else {
      command = child;
      path = `${path} ${word}`.trim();
    }
  }
  const last = plain.at(-1) ?? "";
  const place = { command, path, given };
  if (open !== undefined) return { ...place, current: last, before: "", option: open };
  const [, name = "", value = ""] = /^(--[^=]+)=(.*)$/s.exec(last) ?? [];
  const option = name === "" ? undefined : optionOf(command, name);
  if (option !== undefined) return { ...place, current: value, before: `${name}=`, option };
  const argument = command.registeredArguments[operands];
  return { ...place, current: last, before: "", ...defined({ argument }) };
}

/** The option of that name: of the command itself, or of one above it, such as --chdir of the program. */
function optionOf(command: Command, name: string): Option | undefined {
  const own = command.options.find(({ short, long }) => name === short || name === long);
  return own ?? (command.parent === null ? undefined : optionOf(command.parent, name));
}

/** A word as the shell would pass it on; a quote that is still open counts as closed. */
function unquoted(word: string): string {
  let text = "";
  let quote = "";
  for (let at = 0; at < word.length; at += 1) {
    const letter = word.charAt(at);
    if (letter === "\\" && quote !== "'") {
      at += 1;
      text += word.charAt(at);
    } else if (quote === letter) quote = "";
    else if (quote === "" && (letter === '"' || letter === "'")) quote = letter;
    else text += letter;
  }
  return text;
}
