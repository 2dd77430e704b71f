#compdef graphform
_graphform() {
  local -a found dotted
  local program="${words[1]}" folder="$PWD" search="$PATH"
  local -i at=2
  if [[ "$program" == npx ]]; then
    while (( at < CURRENT )) && [[ "${words[at]}" == -* ]]; do at+=1; done
    until [[ -x "$folder/node_modules/.bin/graphform" || -z "$folder" ]]; do folder="${folder%/*}"; done
    if (( at >= CURRENT )) || [[ "${words[at]}" != graphform || -z "$folder" ]]; then
      _files
      return
    fi
    program="$folder/node_modules/.bin/graphform"
    # As npx does: the program is run by the Node that the repository brings.
    search="$folder/node_modules/.bin:$PATH"
    at+=1
  fi
  found=("${(@f)$(PATH="$search" "$program" complete -- "${(@)words[at,CURRENT]}" 2>/dev/null)}")
  found=("${(@)found%%$'\t'*}")
  found=("${(@)found:#}")
  if (( ${#found} == 0 )); then
    _files
    return
  fi
  dotted=("${(@M)found:#*[./]}")
  found=("${(@)found:#*[./]}")
  compadd -S '' -a dotted
  compadd -a found
}
if [ "${funcstack[1]}" = _graphform ]; then
  _graphform
else
  compdef _graphform graphform
  (( ${+_comps[npx]} )) || compdef _graphform npx
fi
