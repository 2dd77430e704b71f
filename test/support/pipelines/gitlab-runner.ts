import { cpSync, existsSync, globSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import type { ForgeServer } from "./forge-server.ts";
import { runnerPrograms, shell, type Variables } from "./shell.ts";

interface Rule {
  readonly if?: string;
  readonly when?: "manual" | "never" | "on_success";
}

interface Job {
  readonly stage: string;
  readonly extends?: string;
  readonly needs?: readonly string[];
  readonly rules?: readonly Rule[];
  readonly before_script?: readonly string[];
  readonly script: readonly string[];
  readonly after_script?: readonly string[];
  readonly variables?: Variables;
  readonly environment?: { readonly name: string; readonly action?: string };
  readonly allow_failure?: { readonly exit_codes: number };
  readonly artifacts?: {
    readonly paths?: readonly string[];
    readonly reports?: Variables;
    readonly access?: string;
    readonly when?: "on_success" | "always";
  };
}

interface Pipeline {
  readonly stages: readonly string[];
  readonly workflow?: { readonly rules: readonly Rule[] };
  readonly variables?: Variables;
  readonly default?: { readonly before_script?: readonly string[] };
}

/** How a job of a pipeline ended. */
export interface GitlabJob {
  readonly status: "success" | "warning" | "failed" | "skipped" | "created";
  readonly out: string;
  readonly afterScript: string;
  /** Reports by their kind. */
  readonly reports: Variables;
  readonly environment?: { readonly name: string; readonly action?: string };
}

/** A project at GitLab. Artifacts go from a job to those that need it. */
export interface GitlabRunner {
  /** The commit of the last pipeline. */
  commit(): string;
  /** Runs a pipeline. `manual` are jobs that a person starts; each is called before its job. CI_COMMIT_SHA names an earlier commit. */
  run(
    variables: Variables,
    manual?: { readonly [job: string]: () => Promise<unknown> },
  ): Promise<{ readonly [job: string]: GitlabJob }>;
}

const notJobs = new Set(["stages", "workflow", "default", "variables", "spec", "include"]);

/** Makes a runner that works below `folder`, for commits of the files in `repository`; `text` is another pipeline than theirs. */
export function gitlabRunner({
  folder,
  repository,
  forge,
  text,
  project,
  environments = {},
}: {
  readonly folder: string;
  readonly repository: string;
  readonly forge: Pick<ForgeServer, "url" | "git">;
  readonly text?: string;
  /** Variables of the project. */
  readonly project: Variables;
  /** Variables that environments have in place of those. */
  readonly environments?: { readonly [name: string]: Variables };
}): GitlabRunner {
  const programs = runnerPrograms(folder);
  let runs = 0;
  let commit = "";
  return {
    commit: () => commit,
    async run(given, manual = {}) {
      runs += 1;
      const branch = given["CI_COMMIT_BRANCH"] ?? "proposed";
      commit = given["CI_COMMIT_SHA"] ?? forge.git.push(repository, branch);
      const home = join(folder, `pipeline-${runs}`);
      const checkout = join(home, "commit");
      forge.git.checkOut(commit, checkout);
      const document = text === undefined ? wholePipeline(checkout) : parsed(text);
      const predefined = {
        ...{ ...project, CI_DEFAULT_BRANCH: "main", CI_PROJECT_URL: `${forge.url}/acme/graphs` },
        ...given,
        CI_COMMIT_SHA: commit,
      };
      const results: Record<string, GitlabJob> = {};
      if (document.workflow !== undefined && ruled(document.workflow.rules, predefined) === "never")
        return results;
      for (const [name, job] of stagedJobs(document)) {
        const when = ruled(job.rules ?? [{}], predefined);
        if (when === "never") continue;
        const needed = job.needs ?? Object.keys(results);
        const failed = needed.some(
          (need) => !["success", "warning"].includes(results[need]?.status ?? "success"),
        );
        const start = manual[name];
        if (failed || (when === "manual" && start === undefined)) {
          results[name] = { status: failed ? "skipped" : "created", out: "", afterScript: "", reports: {} };
          continue;
        }
        await start?.();
        const { environment } = job;
        const ran = await runJob(job, document, {
          ...{ home, name, needed, checkout },
          env: {
            ...(await programs),
            ...predefined,
            ...environments[environment?.name ?? ""],
            GITLAB_CI: "true",
            CI_PROJECT_DIR: join(home, name),
            CI_JOB_URL: `https://gitlab.example/jobs/${runs}`,
            ...expanded({ ...document.variables, ...job.variables }, predefined),
          },
        });
        results[name] = { ...ran, ...(environment && { environment }) };
      }
      return results;
    },
  };
}

function stagedJobs(document: Document): readonly [string, Job][] {
  const jobs = Object.entries(document).filter(([name]) => !notJobs.has(name) && !name.startsWith("."));
  return document.stages.flatMap((stage) =>
    jobs
      .map(([name, job]): [string, Job] => [name, asJob(job, document)])
      .filter(([, job]) => job.stage === stage),
  );
}

type Document = Pipeline & { readonly [name: string]: unknown };

function parsed(text: string): Document {
  return parse(text);
}

/** The pipeline of a commit with the files that it includes. */
function wholePipeline(folder: string): Document {
  const read = (file: string): Document => parsed(readFileSync(join(folder, file), "utf8"));
  const root: Document & { readonly include?: readonly { readonly local: string }[] } =
    read(".gitlab-ci.yml");
  const files = (root.include ?? []).flatMap(({ local }) => globSync(local, { cwd: folder }));
  return Object.assign({}, ...files.map(read), root);
}

interface Place {
  readonly home: string;
  readonly name: string;
  readonly needed: readonly string[];
  readonly checkout: string;
  readonly env: Variables;
}

async function runJob(job: Job, document: Pipeline, place: Place): Promise<GitlabJob> {
  const { home, name, env, needed } = place;
  const workspace = join(home, name);
  mkdirSync(workspace, { recursive: true });
  cpSync(place.checkout, workspace, { recursive: true });
  for (const need of needed) {
    const kept = join(home, "artifacts", need);
    if (existsSync(kept)) cpSync(kept, workspace, { recursive: true });
  }
  const before = job.before_script ?? document.default?.before_script ?? [];
  const { code, out } = await shell([...before, ...job.script].join("\n"), workspace, env);
  const after =
    job.after_script === undefined
      ? undefined
      : await shell(job.after_script.join("\n"), workspace, {
          ...env,
          CI_JOB_STATUS: code === 0 ? "success" : "failed",
        });
  const isAllowed = code !== 0 && job.allow_failure?.exit_codes === code;
  const { paths = [], reports = {}, when = "on_success" } = job.artifacts ?? {};
  for (const path of code === 0 || when === "always" ? paths : []) {
    if (!existsSync(join(workspace, path))) continue;
    mkdirSync(dirname(join(home, "artifacts", name, path)), { recursive: true });
    cpSync(join(workspace, path), join(home, "artifacts", name, path), { recursive: true });
  }
  const found = Object.entries(reports).flatMap(([kind, path]): [string, string][] =>
    existsSync(join(workspace, path)) ? [[kind, readFileSync(join(workspace, path), "utf8")]] : [],
  );
  return {
    status: code === 0 ? "success" : isAllowed ? "warning" : "failed",
    out,
    afterScript: after?.out ?? "",
    reports: Object.fromEntries(found),
  };
}

/** What the first rule that fits says; `never` where none does. */
function ruled(rules: readonly Rule[], variables: Variables): "manual" | "never" | "on_success" {
  const rule = rules.find((each) => each.if === undefined || fits(each.if, variables));
  return rule === undefined ? "never" : (rule.when ?? "on_success");
}

/** `$A == "text" && $B != $C`: the conditions that pipelines here use. */
function fits(condition: string, variables: Variables): boolean {
  const value = (text: string): string | undefined =>
    text.startsWith("$") ? variables[text.slice(1)] : JSON.parse(text);
  return condition.split("&&").every((part) => {
    const [, left = "", sign, right = ""] = /^\s*(\S+)\s*(==|!=)\s*(\S+)\s*$/.exec(part) ?? [];
    if (sign === undefined) throw new Error(`not a condition of these tests: ${condition}`);
    return (value(left) === value(right)) === (sign === "==");
  });
}

function expanded(values: Variables, known: Variables): Variables {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      String(value).replaceAll(/\$(\$|\w+)/g, (_, other: string) =>
        other === "$" ? "$" : (known[other] ?? ""),
      ),
    ]),
  );
}

/** A component with its inputs put in, as a pipeline that includes it has it. */
export function included(component: string, inputs: Variables): string {
  const [head = "", body = ""] = component.split(/^---$/m);
  const { spec }: { spec: { inputs: { readonly [name: string]: { readonly default?: string } } } } =
    parse(head);
  const unknown = Object.keys(inputs).filter((name) => !Object.hasOwn(spec.inputs, name));
  if (unknown.length > 0) throw new Error(`no such input: ${unknown.join()}`);
  return body.replaceAll(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_, name: string) => {
    const value = inputs[name] ?? spec.inputs[name]?.default;
    if (value === undefined) throw new Error(`no input ${name}`);
    return value;
  });
}

function asJob(value: unknown, document: { readonly [name: string]: unknown }): Job {
  const own: Partial<Job> = typeof value === "object" && value !== null ? value : {};
  const above = own.extends === undefined ? undefined : document[own.extends];
  const base: Partial<Job> = typeof above === "object" && above !== null ? above : {};
  const { stage, script, ...rest }: Partial<Job> = { ...base, ...own };
  if (stage === undefined || script === undefined) throw new Error("not a job");
  return { stage, script, ...rest };
}
