/** @module Prints the words that may follow on a command line, and the scripts that ask shells for them. */
import { type Argument, type Command, Help, type Option } from "commander";
import { packageFile } from "../../files/package-file.ts";
import { defined } from "../../model/json.ts";
import type { Settings } from "../../project/settings.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Invocation } from "../with-run.ts";
import type { ManifestPlace } from "./known-addresses.ts";

/** `complete -- WORD...`: prints candidates for the last word, each with its meaning behind a tab. Never fails: the shell completes files then. */
export async function complete(
  words: readonly string[],
  program: Command,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const position = positionOf(program, words);
  const candidates = await candidatesAt(position, program, settings).catch(() => []);
  const lines = candidates
    // Text of a manifest must not reach the terminal as a command to it.
    .filter(({ word }) => word.startsWith(position.current) && !/\p{Cc}/u.test(word))
    .map(({ word, meaning }) => `${position.before}${word}${meaning === undefined ? "" : `\t${meaning}`}\n`);
  terminal.out(lines.join(""));
  return 0;
}

/** `completion SHELL`: prints the script of a shell. Behind `npx graphform` it asks the package in the nearest `node_modules`, as npx does. */
export function completion({ terminal }: Invocation<object>, shell: string): number {
  terminal.out(packageFile(`templates/completion/graphform.${shell}`));
  return 0;
}

async function candidatesAt(
  position: Position,
  program: Command,
  settings: Settings,
): Promise<readonly { readonly word: string; readonly meaning?: string }[]> {
  const { command, option, argument, current } = position;
  if (option !== undefined) return (await valuesOf(option, position, settings)).map((word) => ({ word }));
  const above = command === program ? [] : program.options.filter(({ long }) => long === folderOption);
  const options = [...new Help().visibleOptions(command), ...above].flatMap(({ long, description }) =>
    long === undefined ? [] : [{ word: long, meaning: description }],
  );
  if (current.startsWith("-")) return options;
  const children = new Help()
    .visibleCommands(command)
    .map((child) => ({ word: child.name(), meaning: child.description() }));
  if (command.commands.length > 0) return children;
  return argument === undefined
    ? options
    : (await valuesOf(argument, position, settings)).map((word) => ({ word }));
}

async function valuesOf(
  wanted: Option | Argument,
  position: Position,
  settings: Settings,
): Promise<readonly string[]> {
  if (wanted.argChoices !== undefined) return wanted.argChoices;
  const { path } = position;
  const name = "flags" in wanted ? (/<(\w+)/.exec(wanted.flags)?.[1] ?? "") : wanted.name();
  if ("long" in wanted && wanted.long === "--profile") return profiles();
  if ("long" in wanted && wanted.long === folderOption)
    return (await import("./known-addresses.ts")).foldersAt(position.current);
  if (name === "address" || path === "state mv") {
    const known = await addresses(position, settings);
    return "long" in wanted && wanted.long === "--adopt" ? withFields(known, position.current) : known;
  }
  if (path === "explain") {
    const { explainable } = await import("../explain.ts");
    return upToDot(explainable(), position.current);
  }
  if (path === "schema") return (await import("../reference.ts")).schemaNames;
  return path === "profile show" ? profiles() : [];
}

/** The addresses; behind the dot of one of them, the fields that its live values can be adopted for. */
async function withFields(known: readonly string[], current: string): Promise<readonly string[]> {
  const address = known.find((candidate) => current.startsWith(`${candidate}.`));
  if (address === undefined) return known;
  const { kinds } = await import("../../kinds/index.ts");
  const { fieldRows } = await import("../../model/field-schema.ts");
  const kind = kinds.find(address.split(".", 1)[0] ?? "");
  const rows = kind === undefined ? [] : [...fieldRows(kind.schema)];
  const shown = rows.filter(([, row]) => row["x-secret"] !== true && row.type !== "object");
  const fields = shown.map(([path]) => `${address}.${path}`);
  return upToDot(fields, current);
}

/** Names that begin with a text, each cut behind its next dot, so that long lists open step by step; once each. */
function upToDot(names: readonly string[], current: string): readonly string[] {
  const begun = names.filter((name) => name.startsWith(current));
  const cut = begun.map((name) => {
    const dot = name.indexOf(".", current.length);
    return dot < 0 ? name : name.slice(0, dot + 1);
  });
  return [...new Set(cut)].toSorted();
}

/** The option of the program that every command takes. */
const folderOption = "--chdir";

async function profiles(): Promise<readonly string[]> {
  return (await import("../../hosting/profile/load-profile.ts")).builtInProfiles;
}

async function addresses(position: Position, settings: Settings): Promise<readonly string[]> {
  const { given, path, argument } = position;
  const { enterFolder } = await import("../folders.ts");
  const { knownAddresses } = await import("./known-addresses.ts");
  const folder = given.get(folderOption)?.at(-1);
  if (folder !== undefined) enterFolder(folder);
  const place: ManifestPlace = {
    file: given.get("--file") ?? [],
    var: given.get("--var") ?? [],
    varFile: given.get("--var-file") ?? [],
    ...defined({ state: given.get("--state")?.at(-1) }),
  };
  const known = await knownAddresses(place, settings).catch(() => []);
  if (path !== "state mv" || argument?.name() !== "to") return known;
  const { kinds } = await import("../../kinds/index.ts");
  return [...known, ...kinds.all.map((kind) => `${kind.name}.`)];
}

interface Position {
  readonly command: Command;
  /** Words of the command: `state mv`. */
  readonly path: string;
  /** The text that candidates begin with. */
  readonly current: string;
  /** Text of the word before that: `--target=`. */
  readonly before: string;
  readonly option?: Option;
  readonly argument?: Argument;
  /** Long name of an option -> the values that were given before. */
  readonly given: ReadonlyMap<string, readonly string[]>;
}

/** Finds the position of the last word. Words may be quoted as in a shell; bash gives `=` as a word of its own. */
function positionOf(program: Command, words: readonly string[]): Position {
  const plain = words.map(unquoted).filter((word) => word !== "=");
  const given = new Map<string, readonly string[]>();
  const give = ({ long = "" }: Option, value: string): void => {
    given.set(long, [...(given.get(long) ?? []), value]);
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
