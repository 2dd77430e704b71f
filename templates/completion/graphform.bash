_graphform_installed() {
  local folder="$PWD"
  until [ -x "$folder/node_modules/.bin/graphform" ]; do
    [ -n "$folder" ] || return 1
    folder="${folder%/*}"
  done
  printf '%s\n' "$folder/node_modules/.bin/graphform"
}
_graphform() {
  _graphform_words "${COMP_WORDS[0]/#\~/$HOME}" 1
}
_graphform_npx() {
  local at=1 program
  while [ "$at" -lt "$COMP_CWORD" ] && [[ "${COMP_WORDS[at]}" == -* ]]; do at=$((at + 1)); done
  COMPREPLY=()
  if [ "$at" -lt "$COMP_CWORD" ] && [ "${COMP_WORDS[at]}" = graphform ] && program="$(_graphform_installed)"; then
    # As npx does: the program is run by the Node that the repository brings.
    PATH="${program%/*}:$PATH" _graphform_words "$program" $((at + 1))
  else
    compopt -o default 2>/dev/null
  fi
}
_graphform_words() {
  local current="${COMP_WORDS[COMP_CWORD]}" line dots=1
  [ "$current" = "=" ] && current=""
  COMPREPLY=()
  while IFS= read -r line; do
    line="${line%%$'\t'*}"
    case "$line" in *[./]) ;; *) dots=0 ;; esac
    case "$current" in
      [\"\']*) COMPREPLY+=("$line") ;;
      *) COMPREPLY+=("$(printf %q "$line")") ;;
    esac
  done < <("$1" complete -- "${COMP_WORDS[@]:$2:COMP_CWORD-$2}" "$current" 2>/dev/null)
  if [ ${#COMPREPLY[@]} -eq 0 ]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
  elif [ "$dots" = 1 ]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -F _graphform graphform
complete -p npx >/dev/null 2>&1 || complete -F _graphform_npx npx
