mkdir -p graphform-errored
find . -name node_modules -prune -o -path '*/.graphform/*.errored.state.json*' ! -name '*.old' -exec cp {} graphform-errored/ \;
if rmdir graphform-errored 2>/dev/null; then exit 0; fi
