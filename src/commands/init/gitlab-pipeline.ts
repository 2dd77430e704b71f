/** @module Writes the pipeline of GitLab: plan, apply and drift. */
import { erroredFolder, erroredScript } from "./errored-artifact.ts";
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

/** The pipeline. Its drift job runs in pipelines that a schedule begins. */
export function gitlabPipeline(needs: PipelineNeeds): PipelineFile {
  const { name, secrets, stateSecrets, state } = needs;
  const options = manifestOptions(needs);
  const cd = yamlLine(`cd ${quoted(needs.folder)}`);
  const variables = ["GRAPHFORM_USERNAME", "GRAPHFORM_PASSWORD", ...stateSecrets, ...secrets];
  const region = state === "s3" ? ["AWS_REGION"] : [];
  const shared = state === "file" ? ["GRAPHFORM_STATE"] : [];
  return {
    path: ".gitlab-ci.yml",
    text: `# Written by \`graphform init --ci gitlab\`. A merge request shows its plan in one note. After the merge the plan is made again
# from the merged commit, and the job \`apply\`, which a person starts, carries out that plan and nothing else.
#
# Settings, CI/CD, Variables: ${[...variables, ...region, ...shared].join(", ")}; masked, and visible
# to merge requests. GITLAB_TOKEN there is a project access token with the scope api: it writes the note and the issue of drift.
# Build, Pipeline schedules: one on the default branch, for example 17 5 * * *, looks for drift.
stages: [plan, apply, drift]

workflow:
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
${storeVariables(needs)}
default:
  image: node:24
  before_script:
${state === "file" ? `    - |\n${lastingState("      ")}\n` : ""}    - npm ci
    - export PATH="$PWD/node_modules/.bin:$PATH"
${needs.folder === "" ? "" : `    - ${cd}\n`}
plan:
  stage: plan
  rules:
    - if: $CI_PIPELINE_SOURCE != "schedule"
  interruptible: true
  timeout: 30 minutes
  script:
    # The pipeline of a fork has no secrets: its manifest is only validated.
    - |
      if test "\${CI_MERGE_REQUEST_PROJECT_ID:-$CI_PROJECT_ID}" != "$CI_PROJECT_ID"; then
        graphform validate${fileOption(needs)}
        exit 0
      fi
    - ${yamlLine(`graphform plan${options} --out graphform.gfplan --markdown graphform-plan.md --gitlab tfplan.json`)}
    - sha256sum graphform.gfplan > graphform.gfplan.sha256
  # After a failure too: the note says then why there is no plan. A cancelled job says nothing: a newer one is on its way.
  after_script:
    - export PATH="$PWD/node_modules/.bin:$PATH"
${needs.folder === "" ? "" : `    - ${cd}\n`}    - |
      if test "$CI_JOB_STATUS" != canceled && test "$CI_MERGE_REQUEST_PROJECT_ID" = "$CI_PROJECT_ID"; then
        graphform ci comment graphform-plan.md --key ${name}
      fi
  artifacts:
    # Not for everybody who sees the project: a plan names what there is, though no secret.
    access: developer
    expire_in: 2 weeks
    paths:
      - ${pathOf(needs, "graphform.gfplan")}
      - ${pathOf(needs, "graphform.gfplan.sha256")}
      - ${pathOf(needs, "graphform-plan.md")}
    reports:
      terraform: ${pathOf(needs, "tfplan.json")}

apply:
  stage: apply
  needs: [plan]
  rules:
    - if: $CI_PIPELINE_SOURCE != "schedule" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
      when: manual
  # Protect it, and say who may deploy: that person has read the plan in the log of the job before.
  environment: production
  # One at a time, and never ended half-way. The lock of the state holds beside it, against everything else that applies.
  resource_group: graphform-${name}
  interruptible: false
  timeout: 3 hours
  script:
    - sha256sum --check --strict graphform.gfplan.sha256
    - code=0; graphform apply graphform.gfplan${stateOption(needs)} --lock-timeout 15m || code=$?
    # Exit 6: something has changed since the plan was shown, or it was applied before. The new plan is shown, and not applied.
    - |
      if test "$code" -eq 6; then
        graphform plan${options} || true
        echo "The plan that was shown is stale, or was applied before: nothing was done. The new one stands above: run a new pipeline to approve it." >&2
      fi
    - exit "$code"
${erroredScript(needs.folder === "" ? "" : `    - ${cd}\n`, pathOf(needs, erroredFolder))}
drift:
  stage: drift
  rules:
    - if: $CI_PIPELINE_SOURCE == "schedule"
  timeout: 30 minutes
  script:
    # --unmanaged adds what nobody declares.
    - ${yamlLine(`code=0; graphform drift${options} --markdown graphform-drift.md --junit graphform-drift.xml || code=$?`)}
    - graphform ci issue graphform-drift.md --exitcode "$code" --key ${name} || echo "The issue about drift could not be written." >&2
    - exit "$code"
  # Drift is a warning, and the issue's to tell; everything else is a failure.
  allow_failure: { exit_codes: 2 }
  artifacts:
    when: always
    access: developer
    expire_in: 2 weeks
    reports:
      junit: ${pathOf(needs, "graphform-drift.xml")}
`,
  };
}

/** Signs in to GitLab's own store with the token of the job, where the manifest keeps its state over HTTP. */
function storeVariables({ state }: PipelineNeeds): string {
  if (state !== "http") return "";
  return `
variables:
  # For GitLab's own store (Operate, Terraform states). For another one, leave these out and set the variables of the project.
  GRAPHFORM_STATE_USERNAME: gitlab-ci-token
  GRAPHFORM_STATE_PASSWORD: $CI_JOB_TOKEN
`;
}

function pathOf(needs: PipelineNeeds, file: string): string {
  return quotedYaml(inFolder(needs, file));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function quotedYaml(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : JSON.stringify(text);
}
