/** @module Defines commands as tables: words, options, examples, and the function that runs. */
import { Argument, type Command, Help, Option } from "commander";
import type { Settings } from "../project/settings.ts";
import { wrapIndented } from "../report/typeset.ts";
import type { Terminal, TerminalOptions } from "./terminal/terminal.ts";
import type { Invocation } from "./with-run.ts";

/** The program that commands are added to, and the environment in which they run. */
export interface CommandHost {
  readonly settings: Settings;
  /** Opens the terminal with the options for colour and log. */
  readonly at: (options: TerminalOptions) => Terminal;
  /** Folders of --chdir, as the command line names them; a single one is the current folder by now. */
  readonly folders: () => readonly string[];
  /** A parent command that can run alone: it reads its options at any position. */
  readonly above?: Command;
  readonly done: (code: number) => void;
}

/** Adds a command, or a group of commands, to its parent. */
export type CommandEntry = (parent: Command, host: CommandHost) => void;

/** A command besides its name and description. `O` is what its options are parsed to, as its handler names them. */
interface CommandSpec<O> {
  readonly shared?: (command: Command) => Command;
  /** Long names of shared options that do nothing for it. */
  readonly ineffective?: readonly string[];
  readonly arguments?: readonly (readonly [name: string, about: string] | Argument)[];
  readonly options?: readonly (readonly [flags: string, about: string] | Option)[];
  readonly examples?: readonly (readonly [line: string, meaning: string])[];
  readonly after?: string;
  /** True if options and arguments that it does not know go to another program. */
  readonly passesOn?: boolean;
  /** Commands below it. An option that both have counts for whichever runs. */
  readonly below?: readonly CommandEntry[];
  /** Loads the code that runs it with the arguments as they were parsed, and returns the exit code. */
  readonly load: (options: O) => Promise<Handler<O>>;
}

type Handler<O> = (invocation: Invocation<O>, ...args: string[]) => number | Promise<number>;

/** Adds the arguments and options of a table to its command. */
function addWords(
  added: Command,
  argumentRows: NonNullable<CommandSpec<object>["arguments"]>,
  optionRows: NonNullable<CommandSpec<object>["options"]>,
): void {
  for (const given of argumentRows)
    added.addArgument(given instanceof Argument ? given : new Argument(...given));
  for (const given of optionRows) added.addOption(given instanceof Option ? given : new Option(...given));
}

export function command<O extends object>(name: string, about: string, spec: CommandSpec<O>): CommandEntry {
  return (parent, host) => {
    const { settings, at, folders, done } = host;
    const { shared = (bare) => bare, ineffective, options = [], examples, after, passesOn = false } = spec;
    const added = shared(parent.command(name).description(about));
    // A pipeline may give one set of options to every command: those that do nothing stay accepted, without help or completion.
    for (const option of added.options) if (ineffective?.includes(option.long ?? "")) option.hideHelp();
    addWords(added, spec.arguments ?? [], options);
    if (examples !== undefined) withExamples(added, examples);
    if (after !== undefined) added.addHelpText("after", after);
    for (const add of spec.below ?? []) add(added, { ...host, above: added });
    if (passesOn) added.allowUnknownOption().allowExcessArguments();
    added.action(async () => {
      const own = added.opts<O & TerminalOptions>();
      const parsed = { ...host.above?.opts(), ...own };
      const invocation = { options: parsed, settings, terminal: at(parsed), folders: folders() };
      const run = await spec.load(parsed);
      done(await run(invocation, ...(passesOn ? added.args : added.processedArgs)));
    });
  };
}

export function commandGroup(name: string, about: string, entries: readonly CommandEntry[]): CommandEntry {
  return (parent, host) => {
    const group = parent.command(name).description(about);
    for (const add of entries) add(group, host);
  };
}

export function json(about = "as JSON"): readonly [string, string] {
  return ["--json", about];
}

export function repeatable(
  flags: string,
  about: string,
  parse: (value: string, before: readonly string[]) => readonly string[],
): Option {
  return new Option(flags, about).argParser(parse).default([]);
}

export function argument(name: string, about: string, parse: (value: string) => string): Argument {
  return new Argument(name, about).argParser(parse);
}

export function required(flags: string, about: string): Option {
  return new Option(flags, about).makeOptionMandatory();
}

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
    // An empty default list is not shown.
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
function withExamples(command: Command, lines: readonly (readonly [string, string])[]): void {
  command.addHelpText("after", () => {
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
