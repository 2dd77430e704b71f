/** @module Contains the CI pipelines that `init --ci` writes. */

/** A pipeline file: it plans every proposed change and applies what was merged. */
export interface Pipeline {
  readonly path: string;
  readonly text: string;
}

/**
 * Shell lines that fail a job without a lasting state: such a job would create every database a second time. A lasting folder
 * is recognised by a marker file that a person created there once; a fresh machine does not have it.
 */
function stateCheck(indent: string): string {
  const lines = [
    'folder="$(dirname "$GRAPHFORM_STATE")"',
    'if test -z "$GRAPHFORM_STATE" || test ! -e "$folder/.graphform-shared"; then',
    '  echo "graphform: this job has no state that outlives it, and would create every database once more." >&2',
    '  echo "Set GRAPHFORM_STATE to the path of a state file in a folder that every job sees (a volume of your own runner)," >&2',
    '  echo "and make the file .graphform-shared in that folder, once, by hand." >&2',
    "  exit 1",
    "fi",
  ];
  return lines.map((line) => `${indent}${line}`).join("\n");
}

/**
 * Pipelines by CI service. The plan job succeeds with and without changes and fails on anything else. Apply jobs run one at
 * a time, are never cancelled half-way, and apply exactly the plan that was shown: its file is kept beside the state.
 */
export const pipelines: { readonly [name in "github" | "gitlab"]: Pipeline } = {
  github: {
    path: ".github/workflows/graphform.yaml",
    text: `name: graphform
on:
  pull_request:
  push: { branches: [main] }
  workflow_dispatch:
  schedule: [{ cron: "17 6 * * *" }]

permissions: { contents: read }

concurrency:
  group: graphform-\${{ github.ref }}
  cancel-in-progress: false

env:
  GRAPHFORM_USERNAME: \${{ secrets.GRAPHFORM_USERNAME }}
  GRAPHFORM_PASSWORD: \${{ secrets.GRAPHFORM_PASSWORD }}
  ORDERS_PASSWORD: \${{ secrets.ORDERS_PASSWORD }}
  # The state has to outlive the jobs, and every one of them has to see it: a path on a volume of your own runner.
  GRAPHFORM_STATE: \${{ vars.GRAPHFORM_STATE }}

jobs:
  plan:
    runs-on: ubuntu-latest  # a runner that sees the folder of GRAPHFORM_STATE
    steps:
      - name: state
        run: |
${stateCheck("          ")}
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 24 }
      - run: npm ci
      - run: npx graphform validate
      - name: plan
        run: |
          # Plans wait beside the state, for the job that applies them; old ones go.
          find "$(dirname "$GRAPHFORM_STATE")" -maxdepth 1 -name '*.gfplan' -mtime +30 -delete
          set +e -o pipefail
          npx graphform plan --state "$GRAPHFORM_STATE" --out "$GRAPHFORM_STATE.$GITHUB_RUN_ID.gfplan" \\
            --detailed-exitcode --no-color | tee plan.txt
          code=$?
          { echo '\`\`\`'; head -c 60000 plan.txt; echo '\`\`\`'; } >> "$GITHUB_STEP_SUMMARY"
          # 0: nothing to do, 2: changes. Everything else is a failure.
          test $code -eq 0 || test $code -eq 2

  apply:
    needs: plan
    if: github.event_name == 'push'
    runs-on: ubuntu-latest  # a runner that sees the folder of GRAPHFORM_STATE
    environment: production # with required reviewers a person reads the plan first
    steps:
      - name: state
        run: |
${stateCheck("          ")}
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 24 }
      - run: npm ci
      # The plan that was shown. Where something has changed since, it is refused (exit 6): run the pipeline again.
      - run: npx graphform apply "$GRAPHFORM_STATE.$GITHUB_RUN_ID.gfplan" --state "$GRAPHFORM_STATE" --no-color --lock-timeout 10m
`,
  },
  gitlab: {
    path: ".gitlab-ci.yml",
    text: `stages: [plan, apply]

# Set GRAPHFORM_STATE (Settings, CI/CD, Variables): the state has to outlive the jobs, and every one of them has to see it:
# a path on a volume of your own runner. GRAPHFORM_USERNAME, GRAPHFORM_PASSWORD and ORDERS_PASSWORD belong there too.
default:
  image: node:24
  before_script:
    - |
${stateCheck("      ")}
    - npm ci

plan:
  stage: plan
  script:
    - npx graphform validate
    # Plans wait beside the state, for the job that applies them; old ones go.
    - find "$(dirname "$GRAPHFORM_STATE")" -maxdepth 1 -name '*.gfplan' -mtime +30 -delete
    - set +e; npx graphform plan --state "$GRAPHFORM_STATE" --out "$GRAPHFORM_STATE.$CI_PIPELINE_ID.gfplan" --detailed-exitcode --no-color; code=$?; set -e
    # 0: nothing to do, 2: changes. Everything else is a failure.
    - test $code -eq 0 || test $code -eq 2

apply:
  stage: apply
  rules: [{ if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH, when: manual }]
  environment: production
  resource_group: graphform
  interruptible: false
  script:
    # The plan that was shown. Where something has changed since, it is refused (exit 6): run the pipeline again.
    - npx graphform apply "$GRAPHFORM_STATE.$CI_PIPELINE_ID.gfplan" --state "$GRAPHFORM_STATE" --no-color --lock-timeout 10m
`,
  },
};
