function __graphform_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  set -l program $before[1]
  set -l search $PATH
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
    # As npx does: the program is run by the Node that the repository brings.
    set search "$folder/node_modules/.bin" $PATH
  end
  set -l found (env PATH=(string join : -- $search) $program complete -- $before[2..-1] "$current" 2>/dev/null)
  if test (count $found) -eq 0
    __fish_complete_path "$current"
  else
    printf '%s\n' $found
  end
end
complete -c graphform -f -a '(__graphform_complete)'
complete -c npx -n '__fish_seen_subcommand_from graphform' -f -a '(__graphform_complete)'
