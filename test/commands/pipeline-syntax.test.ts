import { execFile, execFileSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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
import { beforeAll, describe, expect, it } from "vitest";
import {
  type CiService,
  type PipelinePlace,
  pipelineFiles,
  pipelineNeeds,
} from "../../src/commands/init/pipelines.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

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
const places = {
  "": ["graphform.yaml", ""],
  ", in a folder": ["it's: a #1.yaml", "envs/the prod: [x] #2"],
} as const;
const cases = Object.entries(states).flatMap(([name, state]) =>
  Object.entries(places).map(([where, [file, folder]]): [string, string, PipelinePlace] => [
    `${name}${where}`,
    manifest(state),
    { manifest: file, folder },
  ]),
);

/** The texts of a pipeline by their paths. */
async function filesOf(ci: CiService, name: string): Promise<Readonly<Record<string, string>>> {
  const [, text, place] = cases.find(([found]) => found === name) ?? expect.fail();
  const files = pipelineFiles(ci, await pipelineNeeds(text, ci), place);
  return Object.fromEntries(files.map((file) => [file.path, file.text]));
}

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

  it.each(cases)("takes the workflows of a manifest with %s", async (name) => {
    const texts = Object.values(await filesOf("github", name));
    expect(await Promise.all(texts.map(faults))).toEqual([[], []]);
    // Every input of the templates has got its value.
    expect(texts.join("")).not.toMatch(/\$\[\[|undefined/);
  });

  it.each(texts("examples/**/.github/workflows/*"))("takes the workflow %s", async (_, text) => {
    expect(await faults(text)).toEqual([]);
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
    const { ".github/workflows/graphform.yaml": text = "" } = await filesOf("github", "no store");
    const wrong = [
      ["timeout-minutes:", "timeout-minute:"],
      ["needs: plan", "needs: plann"],
      ["steps.plan.outputs.plan_path != ''", "step.plan.outputs.plan_path != ''"],
      ["deployment: false", "deploy: false"],
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
    folder = temporaryFolder("gitlab");
  });

  /** Jobs of a pipeline as `gitlab-ci-local` sees them, which has the schema and the rules of GitLab; its complaint where it has one. */
  async function jobs(
    name: string,
    files: Readonly<Record<string, string>>,
    variables: Readonly<Record<string, string>>,
  ): Promise<readonly string[] | string> {
    const home = join(folder, name);
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(home, file)), { recursive: true });
      writeFileSync(join(home, file), text);
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
    ["no store, in a folder", pushed, ["-the-prod-x-2-plan", "-the-prod-x-2-apply"]],
    ["http", proposed, ["-plan"]],
    ["s3, in a folder", scheduled, ["-the-prod-x-2-drift"]],
  ] as const)(
    "takes the pipeline of a manifest with %s, and gives each event its jobs",
    async (name, event, expected) => {
      const files = await filesOf("gitlab", name);
      expect(Object.values(files).join("")).not.toMatch(/\$\[\[|undefined/);
      expect(await jobs(name, files, event)).toEqual(expected.map((job) => `a-shop-x-1${job}`));
    },
  );

  it("takes the pipeline of two manifests, each with jobs of its own", async () => {
    const files = { ...(await filesOf("gitlab", "http")), ...(await filesOf("gitlab", "s3, in a folder")) };
    const [own, other] = ["a-shop-x-1", "a-shop-x-1-the-prod-x-2"];
    expect(await jobs("two", files, pushed)).toEqual([
      `${other}-plan`,
      `${own}-plan`,
      `${other}-apply`,
      `${own}-apply`,
    ]);
  });

  it("takes the component with its inputs", async () => {
    const pipeline = `stages: [plan, apply, drift]
include:
  - local: templates/graphform.yml
    inputs: { name: prod, working-directory: envs/prod, drift-args: --unmanaged }
`;
    const component = "templates/graphform.yml";
    const files = { ".gitlab-ci.yml": pipeline, [component]: readFileSync(join(root, component), "utf8") };
    expect(await jobs("component", files, pushed)).toEqual(["prod-plan", "prod-apply"]);
  });

  it("refuses a misspelled key", async () => {
    const files = Object.entries(await filesOf("gitlab", "no store"));
    const wrong = files.map(([file, text]) => [file, text.replace("expire_in:", "expires_in:")]);
    expect(await jobs("misspelled", Object.fromEntries(wrong), pushed)).toContain(
      "'expires_in' property is not expected to be here",
    );
  });
});

describe("everything that pipelines install and use", () => {
  const all = [
    "{templates,examples}/**/*.{yml,yaml}",
    "action.yml",
    "README.md",
    "docs/*.md",
    "examples/**/.github/**/*.yaml",
  ];
  const lines = all
    .flatMap(texts)
    .flatMap(([file, text]) => text.split("\n").map((line) => [file, line] as const));

  it("names the actions of others by one commit each, with its version", () => {
    const used = lines.filter(([, line]) => /^\s*(?:- )?uses: (?!\.\/)/.test(line));
    expect(used.length).toBeGreaterThan(7);
    const pinned = /uses: (actions\/[\w-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)$/;
    expect(used.filter(([, line]) => !pinned.test(line))).toEqual([]);
    const versions = new Map<string, Set<string>>();
    for (const [, line] of used) {
      const [, action = "", version = ""] = pinned.exec(line) ?? [];
      versions.set(action, (versions.get(action) ?? new Set()).add(version));
    }
    expect([...versions].filter(([, found]) => found.size > 1)).toEqual([]);
  });

  it("installs without scripts, and nothing by a name from a registry", () => {
    const installs = lines.filter(
      ([file, line]) => /^\s*(?:- )?(?:run: )?npm (?:ci|i|install)\b/.test(line) && !/\.md$/.test(file),
    );
    expect(installs.filter(([, line]) => !line.includes("--ignore-scripts"))).toEqual([]);
    expect(lines.filter(([, line]) => /npm (?:i|install)\b.* "?graphform(?:@|\s|"|$)/.test(line))).toEqual(
      [],
    );
    expect(lines.filter(([file, line]) => /\.ya?ml$/.test(file) && /\bnpx\b/.test(line))).toEqual([]);
  });
});

/** Files of this repository with their texts. */
function texts(pattern: string): readonly [string, string][] {
  return globSync(pattern, { cwd: root }).map((file) => [file, readFileSync(join(root, file), "utf8")]);
}

function messages({ context }: Pick<TemplateParseResult, "context">): readonly string[] {
  return context.errors.getErrors().map(({ message }) => message);
}
