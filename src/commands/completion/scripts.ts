/** @module Prints shell scripts that complete commands, options and their values. */
import type { Terminal } from "../terminal.ts";

/** `completion SHELL`: the script for bash, zsh or fish. Each asks `graphform complete` for what may follow. */
export function completion(shell: string, terminal: Terminal): number {
  terminal.out(shell === "fish" ? fish : shell === "zsh" ? zsh : bash);
  return 0;
}

// A candidate may have a description behind a tab. Without candidates, files are completed.
const bash = `_graphform() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line dots=1
  [ "$current" = "=" ] && current=""
  COMPREPLY=()
  while IFS= read -r line; do
    line="\${line%%$'\\t'*}"
    case "$line" in *.) ;; *) dots=0 ;; esac
    case "$current" in
      [\\"\\']*) COMPREPLY+=("$line") ;;
      *) COMPREPLY+=("$(printf %q "$line")") ;;
    esac
  done < <("\${COMP_WORDS[0]/#\\~/$HOME}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "$current" 2>/dev/null)
  if [ \${#COMPREPLY[@]} -eq 0 ]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
  elif [ "$dots" = 1 ]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -F _graphform graphform
`;

const zsh = `#compdef graphform
_graphform() {
  local -a found dotted
  found=("\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("\${(@)found%%$'\\t'*}")
  found=("\${(@)found:#}")
  if (( \${#found} == 0 )); then
    _files
    return
  fi
  dotted=("\${(@M)found:#*.}")
  found=("\${(@)found:#*.}")
  compadd -S '' -a dotted
  compadd -a found
}
if [ "\${funcstack[1]}" = _graphform ]; then _graphform; else compdef _graphform graphform; fi
`;

const fish = `function __graphform_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  set -l found ($before[1] complete -- $before[2..-1] "$current" 2>/dev/null)
  if test (count $found) -eq 0
    __fish_complete_path "$current"
  else
    printf '%s\\n' $found
  end
end
complete -c graphform -f -a '(__graphform_complete)'
`;
