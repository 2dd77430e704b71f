/** @module Writes the lines of a pipeline that keep what an apply made and could not store: it would be lost with the job. */

/** Folder that these lines make, and that becomes the artifact. */
export const erroredFolder = "graphform-errored";

/** Lines that copy the files of errored states into `erroredFolder`; without one they leave no folder, and end the shell. */
function collect(indent: string): string {
  return [
    `mkdir -p ${erroredFolder}`,
    `find . -name node_modules -prune -o -path '*/.graphform/*.errored.state.json*' ! -name '*.old' -exec cp {} ${erroredFolder}/ \\;`,
    `if rmdir ${erroredFolder} 2>/dev/null; then exit 0; fi`,
  ]
    .map((line) => `${indent}${line}`)
    .join("\n");
}

/** Instructions for a person, for an artifact that is called so. */
function words(artifact: string): string {
  return `What this run did could not be stored: the store of the state went away. ${artifact} has it, with the ids of what was made, and no secret. Once the store answers, and before the next apply: download it, run graphform state push FILE in the folder of the manifest, then run this again.`;
}

/** Steps of GitHub's job that applies; `artifact` is the name, `path` that of `erroredFolder` in the repository. */
export function erroredSteps(artifact: string, path: string): string {
  return `      # Also where the job was ended: nothing but this file has the ids of what was made when the store of the state was away.
      - name: look for what could not be stored
        id: errored
        if: \${{ failure() || cancelled() }}
        env: { ARTIFACT: "${artifact}" }
        run: |
${collect("          ")}
          echo "found=true" >> "$GITHUB_OUTPUT"
          text="${words("The artifact $ARTIFACT of this run")}"
          echo "::error title=graphform::$text"
          echo "$text" >> "$GITHUB_STEP_SUMMARY"
      - name: keep what could not be stored
        if: \${{ (failure() || cancelled()) && steps.errored.outputs.found == 'true' }}
        uses: actions/upload-artifact@v4
        with:
          name: ${artifact}
          path: |
            ${path}
          if-no-files-found: error
          retention-days: 90
`;
}

/** The end of GitLab's job that applies; `cd` is a line that enters the folder of the manifest, or empty. */
export function erroredScript(cd: string, path: string): string {
  return `  # Also after a failure: nothing but this file has the ids of what was made when the store of the state was away.
  after_script:
${cd}    - |
${collect("      ")}
      echo "${words(`The artifact of this job, folder ${erroredFolder},`)}" >&2
  artifacts:
    when: always
    access: developer
    expire_in: 90 days
    paths:
      - ${path}
`;
}
