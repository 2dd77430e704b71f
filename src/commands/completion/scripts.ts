/** @module Prints shell scripts that complete commands, options and their values. */
import type { Invocation } from "../with-run.ts";

/**
 * `completion SHELL`: the script for bash, zsh or fish. Each asks `graphform complete` for what may follow; behind `npx graphform` it asks
 * the package that npx would run, in `node_modules` of this folder or of one above.
 */
export function completion({ terminal }: Invocation<object>, shell: string): number {
  terminal.out(shell === "fish" ? fish : shell === "zsh" ? zsh : bash);
  return 0;
}

// A candidate may have a description behind a tab. Without candidates, files are completed.
const bash = `_graphform_installed() {
  local folder="$PWD"
  until [ -x "$folder/node_modules/.bin/graphform" ]; do
    [ -n "$folder" ] || return 1
    folder="\${folder%/*}"
  done
  printf '%s\\n' "$folder/node_modules/.bin/graphform"
}
_graphform() {
  _graphform_words "\${COMP_WORDS[0]/#\\~/$HOME}" 1
}
_graphform_npx() {
  local at=1 program
  while [ "$at" -lt "$COMP_CWORD" ] && [[ "\${COMP_WORDS[at]}" == -* ]]; do at=$((at + 1)); done
  COMPREPLY=()
  if [ "$at" -lt "$COMP_CWORD" ] && [ "\${COMP_WORDS[at]}" = graphform ] && program="$(_graphform_installed)"; then
    _graphform_words "$program" $((at + 1))
  else
    compopt -o default 2>/dev/null
  fi
}
_graphform_words() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line dots=1
  [ "$current" = "=" ] && current=""
  COMPREPLY=()
  while IFS= read -r line; do
    line="\${line%%$'\\t'*}"
    case "$line" in *[./]) ;; *) dots=0 ;; esac
    case "$current" in
      [\\"\\']*) COMPREPLY+=("$line") ;;
      *) COMPREPLY+=("$(printf %q "$line")") ;;
    esac
  done < <("$1" complete -- "\${COMP_WORDS[@]:$2:COMP_CWORD-$2}" "$current" 2>/dev/null)
  if [ \${#COMPREPLY[@]} -eq 0 ]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
  elif [ "$dots" = 1 ]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -F _graphform graphform
complete -p npx >/dev/null 2>&1 || complete -F _graphform_npx npx
`;

const zsh = `#compdef graphform
_graphform() {
  local -a found dotted
  local program="\${words[1]}" folder="$PWD"
  local -i at=2
  if [[ "$program" == npx ]]; then
    while (( at < CURRENT )) && [[ "\${words[at]}" == -* ]]; do at+=1; done
    until [[ -x "$folder/node_modules/.bin/graphform" || -z "$folder" ]]; do folder="\${folder%/*}"; done
    if (( at >= CURRENT )) || [[ "\${words[at]}" != graphform || -z "$folder" ]]; then
      _files
      return
    fi
    program="$folder/node_modules/.bin/graphform"
    at+=1
  fi
  found=("\${(@f)$("$program" complete -- "\${(@)words[at,CURRENT]}" 2>/dev/null)}")
  found=("\${(@)found%%$'\\t'*}")
  found=("\${(@)found:#}")
  if (( \${#found} == 0 )); then
    _files
    return
  fi
  dotted=("\${(@M)found:#*[./]}")
  found=("\${(@)found:#*[./]}")
  compadd -S '' -a dotted
  compadd -a found
}
if [ "\${funcstack[1]}" = _graphform ]; then
  _graphform
else
  compdef _graphform graphform
  (( \${+_comps[npx]} )) || compdef _graphform npx
fi
`;

const fish = `function __graphform_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  set -l program $before[1]
  if test "$program" = npx
    while test (count $before) -gt 1; and not test "$before[1]" = graphform
      set -e before[1]
    end
    set -l folder $PWD
    while not test -x "$folder/node_modules/.bin/graphform"
      test -n "$folder"; or return
      set folder (string replace -r '/[^/]*$' '' -- $folder)
    end
    set program "$folder/node_modules/.bin/graphform"
  end
  set -l found ($program complete -- $before[2..-1] "$current" 2>/dev/null)
  if test (count $found) -eq 0
    __fish_complete_path "$current"
  else
    printf '%s\\n' $found
  end
end
complete -c graphform -f -a '(__graphform_complete)'
complete -c npx -n '__fish_seen_subcommand_from graphform' -f -a '(__graphform_complete)'
`;
