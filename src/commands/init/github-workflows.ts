/** @module Writes the workflows of GitHub Actions: plan, apply and drift. */
import { erroredFolder, erroredSteps } from "./errored-artifact.ts";
import { lastingState } from "./lasting-state.ts";
import {
  fileOption,
  inFolder,
  manifestOptions,
  type PipelineFile,
  type PipelineNeeds,
  stateOption,
  yamlLine,
} from "./pipeline-needs.ts";

/** The workflow that plans and applies, and the one that looks for drift. */
export function githubWorkflows(needs: PipelineNeeds): readonly PipelineFile[] {
  // A workflow has to stand in the root: those of several folders have names of their own.
  const own = needs.folder === "" ? "graphform" : `graphform-${needs.name}`;
  return [
    { path: `.github/workflows/${own}.yaml`, text: planAndApply(needs) },
    { path: `.github/workflows/${own}-drift.yaml`, text: drift(needs) },
  ];
}

function planAndApply(needs: PipelineNeeds): string {
  const { name } = needs;
  const options = manifestOptions(needs);
  return `# Written by \`graphform init --ci github\`. A pull request shows its plan in one comment. After the merge the plan is made
# again from the merged commit and shown in the summary; the job \`apply\` carries out that plan and nothing else.
name: graphform${needs.folder === "" ? "" : ` ${name}`}
on:
  pull_request:
  push: { branches: [main] }
  workflow_dispatch:

permissions: { contents: read }
${stateVariable(needs)}${workingDirectory(needs)}
jobs:
  plan:
    runs-on: ubuntu-latest${runner(needs)}
    timeout-minutes: 30
    permissions: { contents: read, pull-requests: write }
    # A plan writes nothing: a newer commit of a pull request may end it.
    concurrency:
      group: graphform-${name}-plan-\${{ github.ref }}
      cancel-in-progress: \${{ github.event_name == 'pull_request' }}
    env:
      # A fork and Dependabot get no secrets, and a token that may only read: the manifest is only validated.
      NO_SECRETS: \${{ github.event_name == 'pull_request' && (github.event.pull_request.head.repo.full_name != github.repository || github.actor == 'dependabot[bot]') }}
    outputs:
      changed: \${{ steps.plan.outputs.changed }}
      sha256: \${{ steps.plan.outputs.plan_sha256 }}
      artifact: graphform-${name}-plan-\${{ github.run_attempt }}
    steps:
${setUp(needs)}
      - name: validate
        if: env.NO_SECRETS == 'true'
        run: ${yamlLine(`graphform validate${fileOption(needs)}`)}
      - name: plan
        id: plan
        if: env.NO_SECRETS != 'true'
        env:
${secrets(needs, "          ")}
        run: |
          graphform plan${options} --out graphform.gfplan --markdown graphform-plan.md
          sha256sum graphform.gfplan > graphform.gfplan.sha256
      - name: comment
        if: \${{ !cancelled() && github.event_name == 'pull_request' && steps.plan.outcome != 'skipped' }}
        env:
          GITHUB_TOKEN: \${{ github.token }}
        run: |
          graphform ci comment graphform-plan.md --key ${name} ||
            echo "::warning title=graphform::The plan could not be shown in a comment. The summary of this job has it."
      - name: keep the plan
        if: steps.plan.outputs.plan_path != ''
        uses: actions/upload-artifact@v4
        with:
          name: graphform-${name}-plan-\${{ github.run_attempt }}
          path: |
            ${inFolder(needs, "graphform.gfplan")}
            ${inFolder(needs, "graphform.gfplan.sha256")}
          if-no-files-found: error
          retention-days: 14

  apply:
    needs: plan
    if: github.ref == 'refs/heads/main' && needs.plan.outputs.changed == 'true'
    runs-on: ubuntu-latest${runner(needs)}
    timeout-minutes: 180
    permissions: { contents: read }
    # Give it required reviewers: they read the plan in the summary of the job before, and approve it here.
    environment: production
    # One at a time, and never ended half-way. The lock of the state holds beside it, against everything else that applies.
    concurrency: { group: graphform-${name}-apply, cancel-in-progress: false }
    steps:
${setUp(needs)}
      - name: fetch the plan
        uses: actions/download-artifact@v4
        with:
          name: \${{ needs.plan.outputs.artifact }}
          path: ${needs.folder === "" ? "." : JSON.stringify(needs.folder)}
      - name: apply
        id: apply
        env:
          PLAN_SHA256: \${{ needs.plan.outputs.sha256 }}
${secrets(needs, "          ")}
        run: |
          echo "$PLAN_SHA256  graphform.gfplan" | sha256sum --check --strict -
          # \`exec\`: when the job is cancelled, this process gets the signal, and ends what it does in order.
          exec graphform apply graphform.gfplan${stateOption(needs)} --lock-timeout 15m
      # Exit 6: something has changed since the plan was shown, or it was applied before. The new plan is shown, and not applied.
      - name: plan again
        if: \${{ failure() && steps.apply.outputs.exitcode == '6' }}
        env:
${secrets(needs, "          ")}
        run: |
          graphform plan${options}
          echo "::error title=graphform::The plan that was shown is stale, or was applied before: nothing was done. The summary of this job has the new one: run all jobs again to approve it."
          exit 6
${erroredSteps(`graphform-${name}-errored-\${{ github.run_attempt }}`, inFolder(needs, erroredFolder))}`;
}

function drift(needs: PipelineNeeds): string {
  const { name } = needs;
  return `# Written by \`graphform init --ci github\`. Every day: has anybody changed something outside of this repository? One issue
# says what; it is updated by every look, says when nobody could look, and closes itself when the drift is gone.
name: graphform${needs.folder === "" ? "" : ` ${name}`} drift
on:
  schedule: [{ cron: "17 5 * * *" }]
  workflow_dispatch:

permissions: { contents: read }

concurrency: { group: graphform-${name}-drift, cancel-in-progress: false }
${stateVariable(needs)}${workingDirectory(needs)}
jobs:
  drift:
    runs-on: ubuntu-latest${runner(needs)}
    timeout-minutes: 30
    permissions: { contents: read, issues: write }
    steps:
${setUp(needs)}
      # 0: no drift, 2: drift, which is the issue's to tell. Everything else is a failure. --unmanaged adds what nobody declares.
      - name: drift
        id: drift
        env:
${secrets(needs, "          ")}
        run: ${yamlLine(`graphform drift${manifestOptions(needs)} --markdown graphform-drift.md || test $? -eq 2`)}
      - name: issue
        if: \${{ !cancelled() && steps.drift.outcome != 'skipped' }}
        env:
          GITHUB_TOKEN: \${{ github.token }}
          EXITCODE: \${{ steps.drift.outputs.exitcode }}
        # Drift that no issue tells of fails the job: nobody would hear of it.
        run: |
          graphform ci issue graphform-drift.md --exitcode "$EXITCODE" --key ${name} || {
            echo "::warning title=graphform::The issue about drift could not be written."
            test "$EXITCODE" = 0
          }
`;
}

/** Steps that a job begins with. The secrets are given to the steps that need them, and not to the installation. */
function setUp(needs: PipelineNeeds): string {
  const root = needs.folder === "" ? "" : "\n        working-directory: .";
  const check =
    needs.state === "file"
      ? `      - name: state
        run: |
${lastingState("          ")}
`
      : "";
  // Before the checkout there is no folder to run in.
  const shared =
    needs.folder === ""
      ? check
      : check.replace("name: state\n", "name: state\n        working-directory: .\n");
  return `${shared}      - uses: actions/checkout@v4
        with: { persist-credentials: false }
      - uses: actions/setup-node@v4
        with: { node-version: 24 }
      - name: install${root}
        run: |
          npm ci
          echo "$PWD/node_modules/.bin" >> "$GITHUB_PATH"`;
}

function secrets({ secrets: named, stateSecrets, state }: PipelineNeeds, indent: string): string {
  const names = ["GRAPHFORM_USERNAME", "GRAPHFORM_PASSWORD", ...stateSecrets, ...named];
  const lines = names.map((name) => `${name}: \${{ secrets.${name} }}`);
  const region = state === "s3" ? ["AWS_REGION: ${{ vars.AWS_REGION }}"] : [];
  return [...lines, ...region].map((line) => `${indent}${line}`).join("\n");
}

function stateVariable({ state }: PipelineNeeds): string {
  if (state !== "file") return "";
  return `
env:
  # The state has to outlive the jobs, and every one of them has to see it: a path on a volume of your own runner.
  GRAPHFORM_STATE: \${{ vars.GRAPHFORM_STATE }}
`;
}

function workingDirectory({ folder }: PipelineNeeds): string {
  return folder === "" ? "" : `\ndefaults: { run: { working-directory: ${JSON.stringify(folder)} } }\n`;
}

function runner({ state }: PipelineNeeds): string {
  return state === "file" ? "  # a runner that sees the folder of GRAPHFORM_STATE" : "";
}
