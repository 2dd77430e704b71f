/** @module Prints a shell script that completes commands and options. */
import type { Command } from "commander";
import type { Terminal } from "./terminal.ts";

/** `completion SHELL`: the script for bash, zsh or fish, generated from the registered commands. */
export function completion(shell: string, program: Command, terminal: Terminal): number {
  const words = [...wordsOf(program, "")];
  terminal.out(shell === "fish" ? fish(words) : shell === "zsh" ? zsh(words) : bash(words));
  return 0;
}

/** Path of a command (`instance backup`) and the words that may follow it. */
type Words = readonly (readonly [string, readonly string[]])[];

function wordsOf(command: Command, path: string): Words {
  const own = [
    ...command.commands.map((child) => child.name()),
    ...command.options.flatMap((option) => (option.long ? [option.long] : [])),
  ];
  const inner = command.commands.flatMap((child) => wordsOf(child, `${path} ${child.name()}`.trim()));
  return [[path, own], ...inner];
}

function cases(words: Words): string {
  return words.map(([path, own]) => `    "${path}") words="${own.join(" ")}" ;;`).join("\n");
}

function bash(words: Words): string {
  return `_graphform() {
  local path="" words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) case " ${words.map(([path]) => path.replaceAll(" ", "/")).join(" ")} " in
      *" \${path:+\${path// //}/}$word "*) path="\${path:+$path }$word" ;;
    esac ;; esac
  done
  case "$path" in
${cases(words)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o filenames -F _graphform graphform
`;
}

function zsh(words: Words): string {
  return `#compdef graphform
autoload -U +X bashcompinit && bashcompinit
${bash(words)}`;
}

function fish(words: Words): string {
  const lines = words.flatMap(([path, own]) => {
    const seen =
      path === ""
        ? "__fish_use_subcommand"
        : path
            .split(" ")
            .map((word) => `__fish_seen_subcommand_from ${word}`)
            .join("; and ");
    return own.map(
      (word) =>
        `complete -c graphform -n '${seen}' ${word.startsWith("--") ? `-l ${word.slice(2)}` : `-f -a ${word}`}`,
    );
  });
  return `${lines.join("\n")}\n`;
}
