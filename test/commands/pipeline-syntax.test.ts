import { execFile, execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import {
  convertWorkflowTemplate,
  NoOperationTraceWriter,
  parseWorkflow,
  type TemplateParseResult,
} from "@actions/workflow-parser";
import { parseAction } from "@actions/workflow-parser/actions/index";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { githubWorkflows } from "../../src/commands/init/github-workflows.ts";
import { gitlabPipeline } from "../../src/commands/init/gitlab-pipeline.ts";
import { type PipelineNeeds, pipelineNeeds } from "../../src/commands/init/pipeline-needs.ts";

const root = join(import.meta.dirname, "../..");
const manifest = (state: string): string => `apiVersion: graphform/v1
name: "a shop: [x] #1"
${state}
secrets: { a: { env: SHOP_A } }
`;
const states = {
  "no store": "",
  http: "state: { type: http }",
  s3: "state: { type: s3 }",
  postgres: "state: { type: postgres }",
};
const needs = Object.entries(states).flatMap(([name, state]): [string, PipelineNeeds][] => [
  [name, { ...pipelineNeeds(manifest(state)), manifest: "graphform.yaml", folder: "" }],
  [
    `${name}, in a folder`,
    { ...pipelineNeeds(manifest(state)), manifest: "it's: a #1.yaml", folder: "envs/the prod: [x] #2" },
  ],
]);

describe("GitHub's own parser", () => {
  /** Everything that it finds wrong with a workflow. */
  async function faults(content: string): Promise<readonly string[]> {
    const { context, value } = parseWorkflow(
      { name: "workflow.yaml", content },
      new NoOperationTraceWriter(),
    );
    if (value === undefined) return messages({ context });
    const { errors } = await convertWorkflowTemplate(context, value);
    return [...messages({ context }), ...(errors ?? []).map((error) => error.Message)];
  }

  it.each(needs)("takes the workflows of a manifest with %s", async (_, need) => {
    const found = await Promise.all(githubWorkflows(need).map(({ text }) => faults(text)));
    expect(found).toEqual([[], []]);
  });

  it("takes the workflows of this repository's documents, and the action", async () => {
    const action = readFileSync(join(root, "action.yml"), "utf8");
    const parse = (content: string): TemplateParseResult =>
      parseAction({ name: "action.yml", content }, new NoOperationTraceWriter());
    expect(messages(parse(action))).toEqual([]);
    expect(messages(parse(action.replace("using: composite", "using: composit")))).not.toEqual([]);
    expect(messages(parse(action.replace("shell: bash", "shel: bash")))).not.toEqual([]);
  });

  it("refuses a misspelled key, an unknown context and a job that needs none", async () => {
    const [{ text = "" } = {}] = githubWorkflows(needs[0]?.[1] ?? expect.fail());
    const wrong = [
      ["timeout-minutes:", "timeout-minute:"],
      ["needs: plan", "needs: plann"],
      ["steps.plan.outputs.plan_path != ''", "step.plan.outputs.plan_path != ''"],
      ["!cancelled()", "!canceled()"],
      ["pull-requests: write", "pull-request: write"],
    ];
    for (const [one = "", other = ""] of wrong) {
      expect(text).toContain(one);
      expect([other, await faults(text.replace(one, other))]).not.toEqual([other, []]);
    }
  });
});

describe("GitLab's schema", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "graphform-gitlab-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Jobs of a pipeline as `gitlab-ci-local` sees them, which has the schema and the rules of GitLab; its complaint where it has one. */
  async function jobs(
    name: string,
    text: string,
    variables: Readonly<Record<string, string>>,
    files: readonly string[] = [],
  ): Promise<readonly string[] | string> {
    const home = join(folder, name);
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, ".gitlab-ci.yml"), text);
    for (const file of files) {
      mkdirSync(dirname(join(home, file)), { recursive: true });
      copyFileSync(join(root, file), join(home, file));
    }
    // What is included has to be in git.
    for (const command of [
      ["init", "--quiet"],
      ["add", "--all"],
    ])
      execFileSync("git", command, { cwd: home, stdio: "pipe" });
    const given = Object.entries(variables).flatMap(([key, value]) =>
      value === "" ? ["--unset-variable", key] : ["--variable", `${key}=${value}`],
    );
    const program = join(root, "node_modules/gitlab-ci-local/dist/index.js");
    const ran = promisify(execFile)(process.execPath, [program, "--list-csv", ...given], {
      cwd: home,
      env: {
        ...{ PATH: process.env["PATH"], HOME: home, GIT_CEILING_DIRECTORIES: folder },
        GCL_IGNORE_PREDEFINED_VARS: Object.keys(variables).join(","),
      },
    });
    return ran.then(
      ({ stdout }) =>
        stdout
          .trim()
          .split("\n")
          .slice(1)
          .map((line) => line.split(";").slice(0, 1).join()),
      ({ stderr }: { stderr: string }) => stderr,
    );
  }

  const pushed = { CI_PIPELINE_SOURCE: "push", CI_COMMIT_BRANCH: "main", CI_DEFAULT_BRANCH: "main" };
  const scheduled = { ...pushed, CI_PIPELINE_SOURCE: "schedule" };
  const proposed = { ...pushed, CI_PIPELINE_SOURCE: "merge_request_event", CI_COMMIT_BRANCH: "" };

  it.each([
    ["no store, in a folder", pushed, ["plan", "apply"]],
    ["http", proposed, ["plan"]],
    ["s3, in a folder", scheduled, ["drift"]],
  ] as const)(
    "takes the pipeline of a manifest with %s, and gives each event its jobs",
    async (name, event, expected) => {
      const need = new Map(needs).get(name) ?? expect.fail();
      expect(await jobs(name, gitlabPipeline(need).text, event)).toEqual(expected);
    },
  );

  it("takes the component with its inputs", async () => {
    const pipeline = `stages: [plan, apply, drift]
include:
  - local: templates/graphform.yml
    inputs: { name: prod, working-directory: envs/prod, drift-args: --unmanaged }
`;
    const file = ["templates/graphform.yml"];
    expect(await jobs("component", pipeline, pushed, file)).toEqual(["prod-plan", "prod-apply"]);
  });

  it("refuses a misspelled key", async () => {
    const { text } = gitlabPipeline(needs[0]?.[1] ?? expect.fail());
    const wrong = text.replace("expire_in:", "expires_in:");
    expect(await jobs("misspelled", wrong, pushed)).toContain(
      "'expires_in' property is not expected to be here",
    );
  });
});

function messages({ context }: Pick<TemplateParseResult, "context">): readonly string[] {
  return context.errors.getErrors().map(({ message }) => message);
}
