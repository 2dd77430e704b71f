/** @module Formats the help of the commands: groups, examples, and options that act. */
import { type Command, Help } from "commander";
import { wrapIndented } from "../../report/text-width.ts";

/** Headings of the groups of commands, in the order in which help shows them. */
export const commandGroups = {
  plan: "Plan and apply:",
  state: "What is recorded:",
  service: "Operations at the service:",
  platform: "Local platform:",
  setup: "Setting up:",
  reference: "Reference:",
} as const;

/** Headings of the groups of options, in the order in which help shows them: a command's own options before shared ones. */
export const optionGroups = {
  own: "Options:",
  changes: "What to plan:",
  manifest: "Manifest and state:",
  service: "Service:",
  output: "Output:",
} as const;

/** Sets how help looks for a program and for all commands that are added to it afterwards. */
export function withHelpFormat(program: Command): Command {
  const usual = new Help();
  return program.configureHelp({
    // A list that starts empty is no default worth a word.
    optionDescription: (option) =>
      usual.optionDescription(option).replace(/ \(default: \[\]\)$|, default: \[\](?=\)$)/, ""),
    groupItems: (unsorted, visible, groupOf) =>
      new Map(
        [...usual.groupItems(unsorted, visible, groupOf)].toSorted(([a], [b]) => rankOf(a) - rankOf(b)),
      ),
  });
}

const optionHeadings: readonly string[] = Object.values(optionGroups);

/** Place of a heading among those of options; other headings keep their order behind them. */
function rankOf(heading: string): number {
  const at = optionHeadings.indexOf(heading);
  return at < 0 ? optionHeadings.length : at;
}

/** Adds examples to the help of a command: command lines, each with what it does, below it if the terminal is too narrow. */
export function withExamples(command: Command, lines: readonly (readonly [string, string])[]): Command {
  return command.addHelpText("after", () => {
    const width = command.configureOutput().getOutHelpWidth?.() ?? 80;
    const first = Math.max(...lines.map(([line]) => line.length)) + 4;
    const isNarrow = lines.some(([, meaning]) => first + meaning.length > width);
    const text = lines.map(([line, meaning]) =>
      isNarrow
        ? `  ${line}\n${wrapIndented("      ", meaning, width).join("\n")}\n`
        : `  ${line.padEnd(first - 2)}${meaning}\n`,
    );
    return `\nExamples:\n${text.join("").trimEnd()}`;
  });
}

/**
 * Takes shared options that do nothing for a command out of its help and its completion. They stay accepted, so that a pipeline can give
 * one set of options to every command.
 */
export function withoutEffect(command: Command, names: readonly string[]): Command {
  for (const option of command.options)
    if (option.long !== undefined && names.includes(option.long)) option.hideHelp();
  return command;
}
