import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type CiService, pipelineNeeds } from "../../src/commands/init/pipelines.ts";
import { defined } from "../../src/model/json.ts";
import { type Bench, type Ran, startBench } from "./harness.ts";

let bench: Bench;

beforeAll(async () => {
  bench = await startBench("apiVersion: graphform/v1\nname: init\n");
});
afterAll(() => bench.close());

/** Runs `init` in a folder. */
function init(folder: string, ...args: readonly string[]): Promise<Ran> {
  return bench.bare("--chdir", folder, "init", ...args);
}

/** A folder of its own with what `init` writes there. */
async function initIn(name: string, ...args: readonly string[]): Promise<string> {
  const folder = join(bench.folder, name);
  mkdirSync(folder);
  expect(await init(folder, ...args)).toMatchObject({ code: 0 });
  return folder;
}

describe("the line for editors", () => {
  it.each([
    ["beside the package", ".", [], "./node_modules"],
    ["in a folder below it", "envs/prod", [], "../../node_modules"],
    ["named from above", ".", ["-f", "envs/test/graphform.yaml"], "../../node_modules"],
  ] as const)("leads to the schema of the package: %s", async (_, below, args, expected) => {
    const root = join(bench.folder, `schema-${below.length}-${args.length}`);
    mkdirSync(join(root, "node_modules/graphform/schemas"), { recursive: true });
    writeFileSync(join(root, "node_modules/graphform/schemas/manifest.schema.json"), "{}");
    const folder = join(root, below);
    mkdirSync(join(folder, "envs/test"), { recursive: true });
    expect(await init(folder, ...args)).toMatchObject({ code: 0 });
    const [line] = readFileSync(join(folder, args[1] ?? "graphform.yaml"), "utf8").split("\n");
    expect(line).toBe(`# yaml-language-server: $schema=${expected}/graphform/schemas/manifest.schema.json`);
  });
});

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly with?: { readonly [input: string]: unknown };
  readonly env?: { readonly [name: string]: string };
  readonly run?: string;
}

interface Workflow {
  readonly jobs: { readonly [job: string]: { readonly steps: readonly Step[] } };
}

function workflowIn(folder: string, name: string): Workflow {
  return parse(readFileSync(join(folder, ".github/workflows", name), "utf8"));
}

/** The shell that runs graphform in the action. */
function actionStep(): string {
  const text = readFileSync(join(import.meta.dirname, "../../action.yml"), "utf8");
  const { runs }: { runs: { steps: Step[] } } = parse(text);
  return runs.steps.find((step) => step.id === "run")?.run ?? expect.fail();
}

/** The first lines of shell that every job of GitLab runs. */
function componentCheck(folder: string): string {
  const file = readdirSync(join(folder, ".gitlab"))[0] ?? "";
  const jobs: { [job: string]: { before_script: string[] } } = parse(
    readFileSync(join(folder, ".gitlab", file), "utf8"),
  );
  return Object.values(jobs)[0]?.before_script[0] ?? expect.fail();
}

function present(folder: string, file: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), "of a person");
}

function everything(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
}

describe("init", () => {
  it("offers in its comments nothing that validation refuses", async () => {
    const folder = await initIn("starter");
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
  ])("writes everything or nothing: %s", async (name, prepare) => {
    const folder = join(bench.folder, name.replaceAll(" ", "-"));
    mkdirSync(folder);
    prepare(folder);
    const before = everything(folder);
    const { code, err } = await init(folder, "--ci", "github");
    expect([code, err]).toEqual([1, expect.stringMatching(/cannot write|exists already/)]);
    expect(err).not.toMatch(/ {4}at |EISDIR/);
    expect(everything(folder)).toEqual(before);
  });

  it("names the manifest in the next commands, if it has another name", async () => {
    const folder = join(bench.folder, "named");
    mkdirSync(folder);
    const { err } = await init(folder, "-f", "my shop.yml");
    expect(err).toContain("graphform plan -f 'my shop.yml', graphform apply -f 'my shop.yml'\n");
    expect(readFileSync(join(folder, "my shop.yml"), "utf8")).not.toContain("docs/");
  });

  it("lets Git ignore a .graphform of an earlier version", async () => {
    const folder = join(bench.folder, "older");
    mkdirSync(join(folder, ".graphform"), { recursive: true });
    expect(await init(folder)).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, ".graphform", ".gitignore"), "utf8")).toBe("*\n");
  });

  it("leaves a .gitignore as it is: what graphform keeps ignores itself", async () => {
    const folder = join(bench.folder, "ignoring");
    mkdirSync(folder);
    present(folder, ".gitignore");
    expect(await init(folder)).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, ".gitignore"), "utf8")).toBe("of a person");
    expect(everything(folder)).toEqual([".gitignore", "graphform.yaml"]);
  });

  it.each([
    ["github", () => actionStep(), "graphform is not run"],
    ["gitlab", componentCheck, ""],
  ] as const)("the %s pipeline refuses every job that has no state, in words", async (ci, check, said) => {
    const folder = await initIn(ci, "--ci", ci);
    if (ci === "github") {
      const files = ["graphform.yaml", "graphform-drift.yaml"].map((file) => workflowIn(folder, file).jobs);
      const steps = files.flatMap((jobs) => Object.values(jobs).flatMap((job) => job.steps));
      const runs = steps.filter(({ uses }) => uses === "./node_modules/graphform");
      expect(runs.map((step) => [step.with?.["command"], step.with?.["state-file"]])).toEqual(
        ["validate", "plan", "apply", "drift"].map((command) => [command, true]),
      );
    }
    writeFileSync(join(folder, "graphform"), `#!/bin/sh\necho "${said}"\n`, { mode: 0o755 });
    const run = (state: string | undefined): { readonly status: number | null; readonly stderr: string } =>
      spawnSync("bash", ["--norc", "-e", "-c", check(folder)], {
        cwd: folder,
        encoding: "utf8",
        env: {
          ...{ PATH: `${folder}:${process.env["PATH"]}`, RUNNER_TEMP: folder, GITHUB_WORKSPACE: folder },
          ...{ STATE_FILE: "true", GRAPHFORM_STATE_FILE: "true", COMMAND: "plan" },
          GITHUB_OUTPUT: join(folder, "output"),
          ...defined({ GRAPHFORM_STATE: state }),
        },
      });
    const kept = join(folder, "kept");
    mkdirSync(kept);
    for (const state of [undefined, "", join(kept, "state.json"), "/no/such/state.json", "state.json"]) {
      const { status, stderr } = run(state);
      expect([state, status]).toEqual([state, 1]);
      expect(stderr).toMatch(/no state that outlives it.*GRAPHFORM_STATE.*\.graphform-shared/s);
    }
    writeFileSync(join(kept, ".graphform-shared"), "");
    expect(run(join(kept, "state.json"))).toMatchObject({ status: 0, stderr: "" });
  });

  it("asks on the runner of a state in a file for nothing that a stranger has written", async () => {
    const folder = await initIn("runners", "--ci", "github");
    const text = readFileSync(join(folder, ".github/workflows/graphform.yaml"), "utf8");
    expect(text.match(/runs-on: .*/g)).toEqual([
      expect.stringMatching(
        /head\.repo\.full_name != github\.repository.* && 'ubuntu-latest' \|\| 'self-hosted'/,
      ),
      "runs-on: self-hosted",
    ]);
  });

  const shop = (state: string, more = ""): string => `apiVersion: graphform/v1
name: shop
service: { platformUrl: https://platform.example.com }
${state}
secrets: { a: { env: SHOP_A }, b: { file: b.txt }, c: { command: { run: [vault, read], env: [VAULT_TOKEN] } } }
users: { reader: { instance: orders, password: "\${env.SHOP_B}-\${env.SHOP_A}" } }
${more}`;
  const always = ["GRAPHFORM_PASSWORD", "GRAPHFORM_USERNAME", "SHOP_A", "SHOP_B", "VAULT_TOKEN"];
  const gitlabState = "https://gitlab.example.com/api/v4/projects/7/terraform/state/shop";
  const http = ["GRAPHFORM_STATE_PASSWORD", "GRAPHFORM_STATE_USERNAME"];
  const aws = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];

  it.each<readonly [string, string, readonly string[], readonly string[]]>([
    ["a file", "", ["GRAPHFORM_STATE"], ["GRAPHFORM_STATE"]],
    ["GitLab", `state: { type: http, address: "${gitlabState}" }`, http, []],
    ["another address", "state: { type: http, address: https://states.example.com/shop }", http, http],
    ["a bucket", "state: { type: s3, bucket: states }", [...aws, "AWS_REGION"], [...aws, "AWS_REGION"]],
    ["a bucket with its region", "state: { type: s3, bucket: states, region: eu-west-1 }", aws, aws],
    [
      "a database",
      "state: { type: postgres }",
      ["GRAPHFORM_STATE_POSTGRES_URL"],
      ["GRAPHFORM_STATE_POSTGRES_URL"],
    ],
  ])(
    "asks for the variables of a manifest whose state is in %s, and for no others",
    async (_, state, github, gitlab) => {
      const asked = async (ci: CiService, text: string): Promise<readonly string[]> => {
        const { secrets, variables } = await pipelineNeeds(text, ci);
        return [...secrets, ...variables].sort();
      };
      expect(await asked("github", shop(state))).toEqual([...always, ...github].sort());
      expect(await asked("gitlab", shop(state))).toEqual([...always, ...gitlab].sort());
      const profile = shop(state).replace(
        "platformUrl: https://platform.example.com",
        "profile: falkordb-cloud",
      );
      expect(await asked("gitlab", profile)).toEqual([...always, ...gitlab].sort());
      const bare = shop(state).replace(/^service.*\n/m, "");
      expect(await asked("gitlab", bare)).toEqual([...always, ...gitlab, "GRAPHFORM_PLATFORM_URL"].sort());
    },
  );

  it("gives the secrets to the steps of graphform alone, and writes nothing of a person into a line of shell", async () => {
    const folder = join(bench.folder, "secrets");
    mkdirSync(folder);
    writeFileSync(join(folder, "graphform.yaml"), shop("state: { type: s3, bucket: states }"));
    expect(await init(folder, "--ci", "github")).toMatchObject({ code: 0 });
    for (const file of ["graphform.yaml", "graphform-drift.yaml"])
      for (const { steps } of Object.values(workflowIn(folder, file).jobs))
        for (const { uses, run = "", env = {}, with: given = {} } of steps) {
          expect(run).not.toContain("${{");
          const isRun = uses === "./node_modules/graphform" && given["command"] !== "validate";
          const names = [...always, ...aws, "AWS_REGION"].sort();
          expect(Object.keys(env).sort()).toEqual(isRun ? names : []);
        }
  });

  it("refuses a folder whose name a pipeline would read as an expression", async () => {
    const root = join(bench.folder, "expressions");
    const folder = join(root, "pr ${{ github.token }}");
    mkdirSync(folder, { recursive: true });
    spawnSync("git", ["init", "-q", root]);
    expect(await init(folder, "--ci", "github")).toMatchObject({
      code: 1,
      err: expect.stringContaining("would be read as an expression by a pipeline"),
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("lets an apply end in order when its job is cancelled", async () => {
    const folder = join(bench.folder, "cancelled");
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
    writeFileSync(join(folder, "step.sh"), actionStep());
    const shell = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", "step.sh"], {
      ...{ cwd: folder, stdio: ["ignore", "pipe", "inherit"] },
      env: {
        ...{ PATH: `${folder}:${process.env["PATH"]}`, RUNNER_TEMP: folder, GITHUB_WORKSPACE: folder },
        ...{ GITHUB_OUTPUT: join(folder, "output"), MANIFEST: "", STATE: "", ARGS: "", PLAN_SHA256: "" },
        ...{ COMMAND: "apply", PLAN_FILE: "graphform.gfplan", LOCK_TIMEOUT: "15m" },
      },
    });
    let out = "";
    shell.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (out === "" && text.includes("applying")) shell.kill("SIGINT");
      out += text;
    });
    await once(shell, "close");
    expect(out).toBe("applying\nended in order\n");
    expect(readFileSync(join(folder, "output"), "utf8")).toContain("code=130\n");
  });

  it("gives each of two manifests files, jobs, locks and an environment of its own", async () => {
    const root = join(bench.folder, "repository");
    mkdirSync(join(root, ".git"), { recursive: true });
    const manifests = [
      ["envs/prod", shop("state: { type: s3, bucket: prod }")],
      ["envs/test", shop("state: { type: s3, bucket: test }", "environment: qa\n")],
    ] as const;
    const said: string[] = [];
    for (const [folder, text] of manifests) {
      mkdirSync(join(root, folder), { recursive: true });
      writeFileSync(join(root, folder, "graphform.yaml"), text);
      for (const ci of ["github", "gitlab"]) {
        const { code, err } = await init(join(root, folder), "--ci", ci);
        expect(code, err).toBe(0);
        said.push(err);
      }
    }
    expect(said.map((text) => /environments `([\w-]+)-plan`/.exec(text)?.[1])).toEqual([
      "shop-prod",
      "shop-prod",
      "qa",
      "qa",
    ]);
    const targets = { prod: "shop-prod", qa: "qa" };
    for (const [part, target] of Object.entries(targets)) {
      const folder = part === "prod" ? "envs/prod" : "envs/test";
      const { plan, apply } = workflowIn(root, `graphform-shop-${part}.yaml`).jobs;
      expect(plan).toMatchObject({ environment: { name: `${target}-plan`, deployment: false } });
      expect(apply).toMatchObject({
        environment: target,
        concurrency: { group: `graphform-shop-${part}-apply`, "cancel-in-progress": false },
      });
      expect(workflowIn(root, `graphform-shop-${part}-drift.yaml`).jobs["drift"]).toMatchObject({
        environment: { name: `${target}-plan`, deployment: false },
      });
      const given = apply?.steps.flatMap((step) => step.with ?? []) ?? [];
      expect(given).toContainEqual(
        expect.objectContaining({ command: "apply", "working-directory": folder }),
      );
      expect(given).toContainEqual(expect.objectContaining({ path: folder }));
      const jobs: { readonly [job: string]: object } = parse(
        readFileSync(join(root, `.gitlab/graphform-shop-${part}.yml`), "utf8"),
      );
      expect(Object.keys(jobs)).toEqual(
        ["", "-plan", "-apply", "-drift"].map((job) => `${job === "" ? "." : ""}shop-${part}${job}`),
      );
      expect(jobs[`.shop-${part}`]).toMatchObject({ variables: { GRAPHFORM_FOLDER: folder } });
      expect(jobs[`shop-${part}-apply`]).toMatchObject({
        environment: { name: target },
        resource_group: `graphform-shop-${part}`,
        artifacts: { paths: [`${folder}/graphform-errored`] },
      });
      for (const job of ["plan", "drift"])
        expect(jobs[`shop-${part}-${job}`]).toMatchObject({
          environment: { name: `${target}-plan`, action: "access" },
        });
    }
  });

  it("leaves a pipeline of GitLab that is there as it is, and says what it lacks", async () => {
    const folder = join(bench.folder, "foreign");
    mkdirSync(folder);
    present(folder, ".gitlab-ci.yml");
    expect(await init(folder, "--ci", "gitlab")).toMatchObject({
      code: 0,
      out: "Wrote graphform.yaml, .gitlab/graphform-my-graphs.yml.\n",
      err: expect.stringContaining("Add to .gitlab-ci.yml: the stages plan, apply and drift, and include"),
    });
    expect(readFileSync(join(folder, ".gitlab-ci.yml"), "utf8")).toBe("of a person");
    expect(await init(folder, "--ci", "gitlab")).toMatchObject({
      code: 1,
      err: expect.stringContaining(".gitlab/graphform-my-graphs.yml exists already"),
    });
  });
});
