echo "graphform: this job has no state that outlives it, and would create every database once more." >&2
echo "Keep the state in a shared store (state: { type: s3 | postgres | http } in the manifest), or" >&2
echo "set GRAPHFORM_STATE to the path of a state file in a folder that every job sees (a volume of your own runner)," >&2
echo "and make the file .graphform-shared in that folder, once, by hand." >&2
exit 1
