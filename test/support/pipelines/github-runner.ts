import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, delimiter, isAbsolute, join } from "node:path";
import { parse } from "yaml";
import { filled, holds, type Scope, type Value } from "./expression.ts";
import type { ForgeServer } from "./forge-server.ts";
import { runnerPrograms, shell, type Variables } from "./shell.ts";

interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Variables;
  readonly with?: { readonly [name: string]: string | number | boolean };
  readonly shell?: string;
  readonly "working-directory"?: string;
}

interface Job {
  readonly strategy?: { readonly matrix: { readonly [name: string]: readonly string[] } };
  readonly needs?: string | readonly string[];
  readonly if?: string;
  readonly env?: Variables;
  readonly outputs?: Variables;
  readonly permissions?: Variables;
  readonly environment?: string | { readonly name: string; readonly deployment?: boolean };
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly env?: Variables;
  readonly permissions?: Variables;
  readonly defaults?: { readonly run?: { readonly "working-directory"?: string } };
  readonly jobs: { readonly [name: string]: Job };
}

interface Action {
  readonly inputs: { readonly [name: string]: { readonly default?: string } };
  readonly outputs: { readonly [name: string]: { readonly value: string } };
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

/** How a step ended. */
export interface StepResult {
  readonly name: string;
  readonly outcome: "success" | "failure" | "skipped";
  readonly out: string;
  readonly outputs: Variables;
}

/** How a job ended. */
export interface JobResult {
  readonly result: "success" | "failure" | "skipped" | "cancelled";
  /** The environment, and whether it was deployed to. */
  readonly environment?: { readonly name: string; readonly deployed: boolean };
  readonly steps: readonly StepResult[];
  readonly outputs: Variables;
  /** Summaries of all steps. */
  readonly summary: string;
}

/** What happens at GitHub, and with what. */
export interface GithubEvent {
  readonly name: "pull_request" | "push" | "schedule" | "workflow_dispatch";
  readonly ref: string;
  readonly payload?: object;
  readonly attempt?: number;
  /** Who caused it. */
  readonly actor?: string;
  /** The commit of an earlier run, which is run again. Left out: everything in the folder is the next commit. */
  readonly commit?: string;
  /** Ends the jobs at once, as the loss of a runner does. */
  readonly killed?: AbortSignal;
}

/** A repository at GitHub with its settings; artifacts are kept from run to run. */
export interface GithubRunner {
  /** Number of runs so far. */
  runs(): number;
  /** The commit of the last run. */
  commit(): string;
  /** Runs a workflow file of a commit. `before` is called before a job, as a reviewer is asked. */
  run(
    file: string,
    event: GithubEvent,
    before?: { readonly [job: string]: () => Promise<unknown> },
  ): Promise<{ readonly [job: string]: JobResult }>;
}

/** Makes a runner that works below `folder`, for commits of the files in `repository`. */
export function githubRunner({
  folder,
  repository,
  secrets,
  vars,
  environments = {},
  forge,
  actions = {},
}: {
  readonly folder: string;
  readonly repository: string;
  readonly secrets: Variables;
  readonly vars: Variables;
  /** Secrets and variables that environments have in place of those of the repository. */
  readonly environments?: { readonly [name: string]: Variables };
  readonly forge: Pick<ForgeServer, "url" | "git">;
  /** Files of composite actions by what `uses` says. */
  readonly actions?: { readonly [uses: string]: string };
}): GithubRunner {
  const programs = runnerPrograms(folder);
  let runs = 0;
  let commit = "";
  return {
    runs: () => runs,
    commit: () => commit,
    async run(file, event, before = {}) {
      runs += 1;
      const home = join(folder, `run-${runs}`);
      const artifacts = join(home, "artifacts");
      mkdirSync(artifacts, { recursive: true });
      commit =
        event.commit ?? forge.git.push(repository, event.name === "pull_request" ? "proposed" : "main");
      const checkout = join(home, "commit");
      forge.git.checkOut(commit, checkout);
      const workflow: Workflow = parse(readFileSync(join(checkout, file), "utf8"));
      const eventFile = join(home, "event.json");
      writeFileSync(eventFile, JSON.stringify(event.payload ?? {}));
      const github = {
        event: event.payload ?? {},
        event_name: event.name,
        ref: event.ref,
        actor: event.actor ?? "ada",
        repository: "acme/graphs",
        run_attempt: String(event.attempt ?? 1),
      };
      const results: Record<string, JobResult> = {};
      for (const { name, id, job, matrix } of Object.entries(workflow.jobs).flatMap(combinations)) {
        const needed = typeof job.needs === "string" ? [job.needs] : (job.needs ?? []);
        const token = tokenOf(job.permissions ?? workflow.permissions);
        const needs = Object.fromEntries(needed.map((need) => [need, results[need] ?? {}]));
        const named = { github: { ...github, token }, matrix, needs, vars };
        const failed = needed.some((need) => results[need]?.result !== "success");
        if (!holds(job.if, scopeOf({ ...named, secrets }, failed))) {
          results[name] = { result: "skipped", steps: [], outputs: {}, summary: "" };
          continue;
        }
        await before[id]?.();
        const environment = environmentOf(job, scopeOf(named, false));
        const own = environments[environment?.name ?? ""];
        const context = { ...named, secrets: { ...secrets, ...own }, vars: { ...vars, ...own } };
        const jobScope = scopeOf(context, failed);
        const place = join(home, name);
        const workspace = join(place, "workspace");
        mkdirSync(workspace, { recursive: true });
        const base: Variables = {
          ...(await programs),
          GITHUB_ACTIONS: "true",
          GITHUB_WORKSPACE: workspace,
          GITHUB_EVENT_PATH: eventFile,
          GITHUB_EVENT_NAME: event.name,
          GITHUB_REF: event.ref,
          GITHUB_REPOSITORY: "acme/graphs",
          GITHUB_API_URL: forge.url,
          GITHUB_SERVER_URL: forge.url,
          GITHUB_RUN_ID: String(runs),
          GITHUB_SHA: commit,
          RUNNER_TEMP: place,
          ...fill(workflow.env, jobScope),
          ...fill(job.env, jobScope),
        };
        const ran = await runSteps(job.steps, {
          ...{ home: place, workspace, artifacts, base, checkout, actions, killed: event.killed },
          context: { ...context, env: base },
          folder: workflow.defaults?.run?.["working-directory"] ?? ".",
        });
        const scope = scopeOf({ ...context, steps: ran.context }, ran.failed);
        results[name] = {
          result: endOf(ran, event),
          ...(environment && { environment }),
          steps: ran.steps,
          outputs: fill(job.outputs, scope),
          summary: ran.summary,
        };
      }
      return results;
    },
  };
}

function endOf({ failed }: RanSteps, { killed }: GithubEvent): JobResult["result"] {
  if (killed?.aborted === true) return "cancelled";
  return failed ? "failure" : "success";
}

function environmentOf({ environment }: Job, scope: Scope): JobResult["environment"] {
  if (environment === undefined) return undefined;
  const whole = typeof environment === "string" ? { name: environment, deployment: true } : environment;
  return { name: filled(whole.name, scope), deployed: whole.deployment !== false };
}

/** A job for each combination of its matrix, which stands behind its name. */
function combinations([id, job]: [string, Job]): readonly {
  name: string;
  id: string;
  job: Job;
  matrix: Variables;
}[] {
  const [axis] = Object.entries(job.strategy?.matrix ?? {});
  if (axis === undefined) return [{ name: id, id, job, matrix: {} }];
  const [key, values] = axis;
  return values.map((value) => ({ name: `${id} (${value})`, id, job, matrix: { [key]: value } }));
}

interface Place {
  readonly killed: AbortSignal | undefined;
  readonly home: string;
  readonly workspace: string;
  readonly artifacts: string;
  readonly base: Variables;
  readonly checkout: string;
  readonly actions: { readonly [uses: string]: string };
  readonly context: object;
  readonly folder: string;
  /** Outputs of a step go here too: those of a composite action's step are its own. */
  readonly prefix?: string;
}

interface StepContext {
  readonly outputs: Variables;
  readonly outcome: string;
  readonly conclusion: string;
}

interface RanSteps {
  readonly steps: readonly StepResult[];
  readonly context: { readonly [id: string]: StepContext };
  readonly failed: boolean;
  readonly summary: string;
}

async function runSteps(steps: readonly Step[], place: Place): Promise<RanSteps> {
  const { home, prefix = "", base, workspace } = place;
  const results: StepResult[] = [];
  const context: Record<string, StepContext> = {};
  const status = { failed: false };
  const noteOf =
    (name: string, id: string | undefined) =>
    (result: Omit<StepResult, "name">): void => {
      results.push({ name, ...result });
      const { outputs, outcome } = result;
      if (id !== undefined) context[id] = { outputs, outcome, conclusion: outcome };
      if (outcome === "failure") status.failed = true;
    };
  let [path, summaries] = [base["PATH"] ?? "", ""];
  for (const [at, step] of steps.entries()) {
    const name = step.name ?? step.id ?? step.uses ?? `step ${at}`;
    const note = noteOf(name, step.id);
    const before = scopeOf({ ...place.context, steps: context }, status.failed);
    if (place.killed?.aborted === true) break;
    if (!holds(step.if, before)) {
      note({ outcome: "skipped", out: "", outputs: {} });
      continue;
    }
    const files = ["output", "summary", "path"].map((file) => join(home, `${prefix}${at}-${file}`));
    for (const file of files) writeFileSync(file, "");
    const [output = "", summary = "", added = ""] = files;
    const env = {
      ...base,
      PATH: path,
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_PATH: added,
      ...fill(step.env, before),
    };
    const scope = scopeOf({ ...place.context, steps: context, env }, status.failed);
    if (step.uses !== undefined) {
      const given = fill(step.with, scope);
      const action = step.uses.startsWith("./")
        ? join(workspace, step.uses, "action.yml")
        : place.actions[step.uses];
      if (action === undefined) note(useKnown(step.uses, given, place));
      else {
        const ran = await runAction(action, given, { ...place, base: env, prefix: `${prefix}${at}-` });
        summaries += ran.summary;
        note(ran.result);
      }
      continue;
    }
    const folder = filled(step["working-directory"] ?? place.folder, scope);
    const cwd = isAbsolute(folder) ? folder : join(workspace, folder);
    const { code, out } = await shell(filled(step.run ?? "exit 99", scope), cwd, env, place.killed);
    note({ outcome: code === 0 ? "success" : "failure", out, outputs: readOutputs(output) });
    summaries += readFileSync(summary, "utf8");
    const more = readFileSync(added, "utf8").trim();
    if (more !== "") path = [...more.split("\n").toReversed(), path].join(delimiter);
  }
  return { steps: results, context, failed: status.failed, summary: summaries };
}

/** The actions of others that workflows here use, as far as they matter. */
function useKnown(uses: string, given: Variables, place: Place): Omit<StepResult, "name"> {
  const { workspace, artifacts, checkout } = place;
  const done = { outcome: "success", out: "", outputs: {} } as const;
  const refused = (out: string): Omit<StepResult, "name"> => ({ outcome: "failure", out, outputs: {} });
  const [action, version = ""] = uses.split("@");
  if (!/^[0-9a-f]{40}$/.test(version)) return refused(`${uses} is not pinned to a commit`);
  if (action === "actions/checkout") cpSync(checkout, workspace, { recursive: true });
  else if (action === "actions/upload-artifact") {
    const target = join(artifacts, given["name"] ?? "artifact");
    for (const file of (given["path"] ?? "").trim().split("\n")) {
      const source = isAbsolute(file) ? file : join(workspace, file.trim());
      if (!existsSync(source)) return refused(`no file ${file}`);
      // A folder is kept by what is in it, as there.
      const name = statSync(source).isDirectory() ? "" : basename(source);
      cpSync(source, join(target, name), { recursive: true });
    }
  } else if (action === "actions/download-artifact") {
    const source = join(artifacts, given["name"] ?? "artifact");
    if (!existsSync(source)) return refused(`no artifact ${given["name"]}`);
    cpSync(source, join(workspace, given["path"] ?? "."), { recursive: true });
  } else if (action !== "actions/setup-node")
    throw new Error(`an action that these tests do not know: ${uses}`);
  return done;
}

async function runAction(
  file: string,
  given: Variables,
  place: Place,
): Promise<{ readonly result: Omit<StepResult, "name">; readonly summary: string }> {
  const { inputs, outputs, runs }: Action = parse(readFileSync(file, "utf8"));
  if (runs.using !== "composite") throw new Error("not a composite action");
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(inputs, name));
  if (unknown.length > 0) throw new Error(`no such input: ${unknown.join()}`);
  const defaults = Object.entries(inputs).map(([name, { default: value = "" }]): [string, string] => [
    name,
    value,
  ]);
  const preset = fill(Object.fromEntries(defaults), scopeOf(place.context, false));
  const context = { ...place.context, inputs: { ...preset, ...given } };
  // Steps of an action begin in the workspace, and must name their shell.
  if (runs.steps.some((step) => step.run !== undefined && step.shell !== "bash"))
    throw new Error("a step without a shell");
  const ran = await runSteps(runs.steps, { ...place, context, folder: "." });
  const scope = scopeOf({ ...context, steps: ran.context }, ran.failed);
  const values = Object.entries(outputs).map(([name, { value }]): [string, string] => [
    name,
    filled(value, scope),
  ]);
  return {
    summary: ran.summary,
    result: {
      outcome: ran.failed ? "failure" : "success",
      out: ran.steps.map(({ out }) => out).join(""),
      outputs: Object.fromEntries(values),
    },
  };
}

function scopeOf(context: object, failed: boolean): Scope {
  return {
    failed,
    cancelled: false,
    look(path) {
      let value: unknown = context;
      for (const key of path)
        value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
      return typeof value === "string" || typeof value === "boolean" ? value : (textOf(value) as Value);
    },
  };
}

function textOf(value: unknown): Value {
  return typeof value === "number" ? String(value) : null;
}

function fill(
  values: { readonly [name: string]: string | number | boolean } | undefined,
  scope: Scope,
): Variables {
  return Object.fromEntries(
    Object.entries(values ?? {}).map(([name, value]) => [name, filled(String(value), scope)]),
  );
}

/** The token of a job says what it may do: the forge of these tests holds it to that. */
function tokenOf(permissions: Variables | undefined): string {
  return Buffer.from(JSON.stringify(permissions ?? {})).toString("base64url");
}

function readOutputs(file: string): Variables {
  return Object.fromEntries(
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.includes("="))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}
