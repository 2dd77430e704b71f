/** @module Contains the shell lines by which a job refuses to run without a state that outlives it. */

/**
 * Shell lines that fail a job without a lasting state: such a job would create every database a second time. A lasting folder
 * is recognised by a marker file that a person created there once; a fresh machine does not have it.
 */
export function lastingState(indent: string): string {
  const lines = [
    'folder="$(dirname "$GRAPHFORM_STATE")"',
    'if test -z "$GRAPHFORM_STATE" || test ! -e "$folder/.graphform-shared"; then',
    '  echo "graphform: this job has no state that outlives it, and would create every database once more." >&2',
    '  echo "Keep the state in a shared store (state: { type: s3 | postgres | http } in the manifest), or" >&2',
    '  echo "set GRAPHFORM_STATE to the path of a state file in a folder that every job sees (a volume of your own runner)," >&2',
    '  echo "and make the file .graphform-shared in that folder, once, by hand." >&2',
    "  exit 1",
    "fi",
  ];
  return lines.map((line) => `${indent}${line}`).join("\n");
}
