import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { githubWorkflows } from "../../src/commands/init/github-workflows.ts";
import { pipelineNeeds } from "../../src/commands/init/pipeline-needs.ts";
import { type Bench, startBench } from "./harness.ts";

const program = join(import.meta.dirname, "../../src/cli.ts");

let bench: Bench;

beforeAll(async () => {
  bench = await startBench("apiVersion: graphform/v1\nname: init\n");
});
afterAll(() => bench.close());

/** A folder of its own with what `init` writes there. */
function initIn(name: string, ...args: readonly string[]): string {
  const folder = join(bench.folder, name);
  mkdirSync(folder);
  execFileSync(process.execPath, [program, "init", ...args], {
    cwd: folder,
    encoding: "utf8",
    stdio: "pipe",
  });
  return folder;
}

interface Job {
  readonly script?: readonly string[];
  readonly steps?: readonly { readonly name?: string; readonly run?: string }[];
}

/** The shell lines of every job of a pipeline, in their order; what runs before each job's own stands first. */
function scripts(file: string): { readonly [job: string]: readonly string[] } {
  const text: {
    jobs?: { [job: string]: Job };
    default?: { before_script: string[] };
    [job: string]: unknown;
  } = parse(readFileSync(file, "utf8"));
  const jobs: { [job: string]: Job | undefined } = text.jobs ?? {
    plan: jobOf(text["plan"]),
    apply: jobOf(text["apply"]),
    drift: jobOf(text["drift"]),
  };
  const before = text.default?.before_script ?? [];
  return Object.fromEntries(
    Object.entries(jobs).map(([job, parts]) => [
      job,
      [...before, ...(parts?.script ?? []), ...(parts?.steps ?? []).flatMap(({ run }) => run ?? [])],
    ]),
  );
}

function jobOf(value: unknown): Job {
  return typeof value === "object" && value !== null ? value : {};
}

/** The shell of a step of the workflow that `init` writes. */
function workflowStep(id: string): string {
  const needs = { ...pipelineNeeds("state: { type: s3 }"), manifest: "graphform.yaml", folder: "" };
  const { jobs }: { jobs: { apply: { steps: { id?: string; run: string }[] } } } = parse(
    githubWorkflows(needs)[0]?.text ?? "",
  );
  return jobs.apply.steps.find((step) => step.id === id)?.run ?? expect.fail();
}

/** The shell that runs graphform in the action. */
function actionStep(): string {
  const text = readFileSync(join(import.meta.dirname, "../../action.yml"), "utf8");
  const { runs }: { runs: { steps: { id?: string; run: string }[] } } = parse(text);
  return runs.steps.find((step) => step.id === "run")?.run ?? expect.fail();
}

function present(folder: string, file: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), "of a person");
}

function everything(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
}

const pipelines = [
  ["github", [".github/workflows/graphform.yaml", ".github/workflows/graphform-drift.yaml"], ["sh"]],
  ["gitlab", [".gitlab-ci.yml"], ["bash", "--norc"]],
] as const;

describe("init", () => {
  it("offers in its comments nothing that validation refuses", async () => {
    const folder = initIn("starter");
    const file = join(folder, "graphform.yaml");
    expect((await bench.bare("validate", "-f", file)).code).toBe(0);
    const [first = "", ...lines] = readFileSync(file, "utf8").split("\n");
    const opened = lines.map((line) => line.replace(/^(\s*)# (\s*[a-zA-Z]+:( |$))/, "$1$2"));
    expect(opened.join("\n")).toMatch(/^service:$[\s\S]*^ {4}lifecycle:$[\s\S]*^users:$/m);
    writeFileSync(file, [first, ...opened].join("\n"));
    const ran = await bench.bare("validate", "-f", file);
    expect([ran.code, ran.err]).toEqual([0, expect.not.stringContaining("error")]);
    // Choices stand after a value as `# one | other`: each of them is one.
    const choices = opened.flatMap((line) => {
      const [, key = "", words = ""] = /^\s+(\w+): \S+\s+# ([\w-]+(?: \| [\w-]+)+)$/.exec(line) ?? [];
      return words
        .split(" | ")
        .map((word): [string, string, string] => [line, key, word])
        .filter(() => key !== "");
    });
    expect(choices.map(([, key, word]) => `${key} ${word}`)).toEqual(
      expect.arrayContaining(["onReplace recreate", "onDelete backup", "tier pro"]),
    );
    for (const [line, key, word] of choices.filter(([, name]) => name !== "tier")) {
      const changed = opened.map((each) => (each === line ? each.replace(/: \S+/, `: ${word}`) : each));
      writeFileSync(file, [first, ...changed].join("\n"));
      expect([key, word, (await bench.bare("validate", "-f", file)).code]).toEqual([key, word, 0]);
    }
  });

  it.each([
    [
      "a file stands where a folder is wanted",
      (folder: string) => writeFileSync(join(folder, ".github"), ""),
    ],
    [
      "the second workflow is there",
      (folder: string) => present(folder, ".github/workflows/graphform-drift.yaml"),
    ],
    [
      "a link that leads nowhere has its name",
      (folder: string) => symlinkSync("nowhere", join(folder, "graphform.yaml")),
    ],
    ["a folder is called .gitignore", (folder: string) => mkdirSync(join(folder, ".gitignore"))],
    [
      ".gitignore leads to a file that nobody can write",
      (folder: string) => symlinkSync("/proc/version", join(folder, ".gitignore")),
    ],
  ])("writes everything or nothing: %s", (name, prepare) => {
    const folder = join(bench.folder, name.replaceAll(" ", "-"));
    mkdirSync(folder);
    prepare(folder);
    const before = everything(folder);
    const { status, stderr } = spawnSync(process.execPath, [program, "init", "--ci", "github"], {
      cwd: folder,
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/cannot write|exists already/)]);
    expect(stderr).not.toMatch(/ {4}at |EISDIR/);
    expect(everything(folder)).toEqual(before);
  });

  it("keeps what a .gitignore has, its line ends and its permissions", () => {
    const folder = join(bench.folder, "ignoring");
    mkdirSync(folder);
    const file = join(folder, ".gitignore");
    writeFileSync(file, "dist\r\n.graphform/", { mode: 0o640 });
    execFileSync(process.execPath, [program, "init"], { cwd: folder, stdio: "pipe" });
    expect(readFileSync(file, "utf8")).toBe(
      "dist\r\n.graphform/\r\n# graphform: state, local platform, saved plans\r\n*.gfplan\r\n",
    );
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(everything(folder)).toEqual([".gitignore", "graphform.yaml"]);
  });

  it.each(pipelines)(
    "the %s pipeline refuses every job that has no state, in words",
    (name, paths, shell) => {
      const folder = initIn(name, "--ci", name);
      const jobs: ReturnType<typeof scripts> = Object.assign(
        {},
        ...paths.map((path) => scripts(join(folder, path))),
      );
      expect(Object.keys(jobs)).toEqual(["plan", "apply", "drift"]);
      for (const [job, [check = ""]] of Object.entries(jobs)) {
        const run = (
          state: string | undefined,
        ): { readonly status: number | null; readonly stderr: string } =>
          spawnSync(shell[0], [...shell.slice(1), "-e", "-c", check], {
            cwd: folder,
            encoding: "utf8",
            env: { PATH: process.env["PATH"], ...(state === undefined ? {} : { GRAPHFORM_STATE: state }) },
          });
        const kept = join(folder, `kept-${job}`);
        mkdirSync(kept);
        for (const state of [
          undefined,
          "",
          join(kept, "state.json"),
          "/no/such/folder/state.json",
          "state.json",
        ]) {
          const { status, stderr } = run(state);
          expect([job, state, status]).toEqual([job, state, 1]);
          expect(stderr).toMatch(/no state that outlives it.*GRAPHFORM_STATE.*\.graphform-shared/s);
        }
        writeFileSync(join(kept, ".graphform-shared"), "");
        expect(run(join(kept, "state.json"))).toMatchObject({ status: 0, stderr: "" });
      }
    },
  );

  it.each(pipelines)(
    "the %s pipeline fits the store and the secrets of a manifest that is there",
    (name, paths) => {
      const folder = join(bench.folder, `shared-${name}`);
      mkdirSync(folder);
      writeFileSync(
        join(folder, "graphform.yaml"),
        `apiVersion: graphform/v1
name: shop
state: { type: s3, bucket: states }
secrets: { a: { env: SHOP_A }, b: { file: b.txt } }
users: { reader: { instance: orders, password: "\${env.SHOP_B}-\${env.SHOP_A}" } }
`,
      );
      const { stdout } = spawnSync(process.execPath, [program, "init", "--ci", name], {
        cwd: folder,
        encoding: "utf8",
      });
      expect(stdout).toBe(`Wrote ${[...paths, ".gitignore"].join(", ")}.\n`);
      for (const path of paths) {
        const text = readFileSync(join(folder, path), "utf8");
        for (const secret of ["SHOP_A", "SHOP_B", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"])
          expect(text).toContain(secret);
        expect(text).not.toContain("GRAPHFORM_STATE");
        // Nothing that a person wrote is put into a line of shell.
        for (const lines of Object.values(scripts(join(folder, path))))
          expect(lines.join("\n")).not.toMatch(/\$\{\{/);
      }
    },
  );

  it.each([
    ["the workflow", () => workflowStep("apply"), {}],
    ["the action", actionStep, { COMMAND: "apply", PLAN_FILE: "graphform.gfplan", LOCK_TIMEOUT: "15m" }],
  ] as const)("lets an apply end in order when its job is cancelled: %s", async (name, step, variables) => {
    const folder = join(bench.folder, `cancelled ${name}`);
    mkdirSync(folder);
    // The runner signals the shell alone, and kills what is left ten seconds later.
    const program = `#!${process.execPath}
const end = () => { console.log("ended in order"); process.exit(130); };
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, end);
setInterval(() => undefined, 1000);
console.log("applying");
`;
    for (const [file, text] of [
      ["graphform", program],
      ["sha256sum", "#!/bin/sh\ncat > /dev/null\n"],
    ] as const)
      writeFileSync(join(folder, file), text, { mode: 0o755 });
    // A file, as the runner has one: what stands behind -c replaces its shell by itself.
    writeFileSync(join(folder, "step.sh"), step());
    const shell = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", "step.sh"], {
      ...{ cwd: folder, stdio: ["ignore", "pipe", "inherit"] },
      env: {
        ...{ PATH: `${folder}:${process.env["PATH"]}`, RUNNER_TEMP: folder, GITHUB_WORKSPACE: folder },
        ...{ GITHUB_OUTPUT: join(folder, "output"), MANIFEST: "", STATE: "", ARGS: "", PLAN_SHA256: "" },
        ...variables,
      },
    });
    let out = "";
    shell.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (out === "" && text.includes("applying")) shell.kill("SIGINT");
      out += text;
    });
    const [code] = await once(shell, "close");
    expect(out).toBe("applying\nended in order\n");
    if (name === "the workflow") expect(code).toBe(130);
    else expect(readFileSync(join(folder, "output"), "utf8")).toContain("code=130\n");
  });

  it("stands in the root of the repository, and runs in the folder of the manifest", () => {
    const root = join(bench.folder, "repository");
    mkdirSync(join(root, ".git"), { recursive: true });
    mkdirSync(join(root, "envs", "prod"), { recursive: true });
    writeFileSync(join(root, "envs/prod/graphform.yaml"), "apiVersion: graphform/v1\nname: shop-prod\n");
    for (const ci of ["github", "gitlab"])
      execFileSync(process.execPath, [program, "--chdir", "envs/prod", "init", "--ci", ci], {
        cwd: root,
        stdio: "pipe",
      });
    const workflow: {
      defaults: object;
      jobs: { apply: { concurrency: object; steps: { with?: { path?: string } }[] } };
    } = parse(readFileSync(join(root, ".github/workflows/graphform-shop-prod.yaml"), "utf8"));
    expect(workflow.defaults).toEqual({ run: { "working-directory": "envs/prod" } });
    expect(workflow.jobs.apply.concurrency).toEqual({
      group: "graphform-shop-prod-apply",
      "cancel-in-progress": false,
    });
    expect(workflow.jobs.apply.steps.flatMap(({ with: given }) => given?.path ?? [])).toEqual([
      "envs/prod",
      "envs/prod/graphform-errored\n",
    ]);
    expect(readFileSync(join(root, ".gitlab-ci.yml"), "utf8")).toContain("    - cd 'envs/prod'\n");
    expect(readFileSync(join(root, ".gitlab-ci.yml"), "utf8")).toMatch(
      /apply:[\s\S]*after_script:\n {4}- cd 'envs\/prod'\n[\s\S]*when: always\n[\s\S]*- envs\/prod\/graphform-errored\n/,
    );
    const again = spawnSync(process.execPath, [program, "init", "--ci", "gitlab"], {
      cwd: root,
      encoding: "utf8",
    });
    expect([again.status, again.stderr]).toEqual([
      1,
      expect.stringContaining(".gitlab-ci.yml exists already"),
    ]);
  });
});
