/** A pipeline that plans every proposed change, and applies what was merged. */
export interface Pipeline {
  readonly path: string;
  readonly text: string;
}

/**
 * Pipelines by the service that runs them. A plan succeeds with and without changes and fails on anything else; an apply
 * is never cancelled half-way, runs one at a time, and carries out the very plan that was shown.
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

jobs:
  plan:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 24 }
      - run: npm ci
      - run: npx graphform validate
      - name: plan
        run: |
          set +e -o pipefail
          npx graphform plan --detailed-exitcode --no-color | tee plan.txt
          code=$?
          { echo '\`\`\`'; head -c 60000 plan.txt; echo '\`\`\`'; } >> "$GITHUB_STEP_SUMMARY"
          # 0: nothing to do, 2: changes. Everything else is a failure.
          test $code -eq 0 || test $code -eq 2

  apply:
    needs: plan
    if: github.event_name == 'push'
    runs-on: ubuntu-latest
    environment: production
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 24 }
      - run: npm ci
      # The state has to outlive the job: keep it where it belongs and name it with --state.
      - run: npx graphform apply --auto-approve --no-color --lock-timeout 10m
`,
  },
  gitlab: {
    path: ".gitlab-ci.yml",
    text: `stages: [plan, apply]

default:
  image: node:24
  before_script: [npm ci]

plan:
  stage: plan
  script:
    - npx graphform validate
    - set +e; npx graphform plan --detailed-exitcode --no-color; code=$?; set -e
    # 0: nothing to do, 2: changes. Everything else is a failure.
    - test $code -eq 0 || test $code -eq 2

apply:
  stage: apply
  rules: [{ if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH, when: manual }]
  environment: production
  resource_group: graphform
  interruptible: false
  script:
    # The state has to outlive the job: keep it where it belongs and name it with --state.
    - npx graphform apply --auto-approve --no-color --lock-timeout 10m
`,
  },
};
