/** @module Reads the needs of a manifest in a pipeline, and makes the pipelines that `init --ci` writes and the package publishes, from one set of templates. */
import { existsSync, readFileSync } from "node:fs";
import { basename, extname, join, relative, resolve } from "node:path";
import { packageFile } from "../../files/package-file.ts";
import { loadProfile } from "../../hosting/profile/load-profile.ts";
import { parseManifest } from "../../manifest/parse.ts";
import { sourceIn } from "../../manifest/secrets.ts";
import type { SourceFile } from "../../manifest/source.ts";
import { GraphformError } from "../../model/errors.ts";
import { isObject, type Json, type JsonObject } from "../../model/json.ts";
import { type StoreType, stores } from "../../model/stores/index.ts";
import type { PipelineVariables } from "../../model/stores/store-description.ts";
import { repositoryOf, typeOf } from "../../project/locate-state.ts";

/** Files of a pipeline, and the next actions of a person. */
export interface Pipelines {
  readonly files: readonly SourceFile[];
  readonly next: string;
}

/** The place of a pipeline, beside its needs. */
export interface PipelinePlace {
  readonly manifest: string;
  /** Folder in the repository, empty for its root. */
  readonly folder: string;
}

/** A pipeline's own name, which its files, locks, comments and artifacts have, and the environment that it applies to. */
interface Named extends PipelineNeeds, PipelinePlace {
  readonly key: string;
  readonly target: string;
}

/** The file that includes the jobs of every manifest on GitLab. */
const gitlabRoot = ".gitlab-ci.yml";

/** The pipelines for the text of a manifest. They stand in the root of the repository, and run in the current folder. */
export async function pipelinesFor(ci: CiService, manifest: string, text: string): Promise<Pipelines> {
  const root = repositoryOf(resolve(".")) ?? resolve(".");
  const folder = relative(root, resolve(".")).replaceAll("\\", "/");
  const path = join(folder, manifest);
  if (/\$\{\{|\$\[\[|\p{Cc}/u.test(path))
    throw new GraphformError("pipeline-path", `${path} would be read as an expression by a pipeline`, {
      hint: "give the folder and the manifest names without ${{, $[[ and control characters",
    });
  const needs = await pipelineNeeds(text, ci);
  const at = (path: string): string => join(relative(".", root), path);
  const written = pipelineFiles(ci, needs, { manifest, folder });
  const included = existsSync(at(gitlabRoot)) ? readFileSync(at(gitlabRoot), "utf8") : undefined;
  // One file includes those of all manifests, and is left as it is.
  const files = written.filter(({ path }) => path !== gitlabRoot || included === undefined);
  return {
    files: files.map((file) => ({ ...file, path: at(file.path) })),
    next: [
      ...nextOf(ci, named(needs, { manifest, folder })),
      ...(ci === "gitlab" ? missing(included) : []),
    ].join("\n"),
  };
}

/** All files of a pipeline, by their paths from the root of the repository. */
export function pipelineFiles(
  ci: CiService,
  needs: PipelineNeeds,
  place: PipelinePlace,
): readonly SourceFile[] {
  const pipeline = named(needs, place);
  const { key } = pipeline;
  if (ci === "gitlab")
    return [
      { path: gitlabRoot, text: template("gitlab/pipeline.yaml") },
      { path: `.gitlab/graphform-${key}.yml`, text: gitlabJobs(pipeline) },
    ];
  const own = isAlone(place) ? "graphform" : `graphform-${key}`;
  return [
    { path: `.github/workflows/${own}.yaml`, text: githubWorkflow("plan-and-apply", pipeline) },
    { path: `.github/workflows/${own}-drift.yaml`, text: githubWorkflow("drift", pipeline) },
  ];
}

/** A manifest that is not the only one of its repository has its environment, its folder or its file in its name. */
function named(needs: PipelineNeeds, place: PipelinePlace): Named {
  const { folder, manifest } = place;
  const { name, environment } = needs;
  const file = manifest === "graphform.yaml" ? "" : basename(manifest, extname(manifest));
  const part = environment ?? fitting(folder === "" ? file : basename(folder));
  const key = name.includes(part) ? name : `${name}-${part}`;
  return { ...needs, ...place, key, target: environment ?? (part === "" ? "production" : key) };
}

function isAlone({ folder, manifest }: PipelinePlace): boolean {
  return folder === "" && manifest === "graphform.yaml";
}

/** Condition of a job that gets no secrets. */
const noSecrets =
  "github.event_name == 'pull_request' && (github.event.pull_request.head.repo.full_name != github.repository || github.actor == 'dependabot[bot]')";

function githubWorkflow(name: "plan-and-apply" | "drift", pipeline: Named): string {
  const { key, target, folder, manifest, state, secrets, variables, instead } = pipeline;
  // Only a runner of one's own sees a state in a file. It runs nothing that an outsider has written.
  const runner = state === "file" ? "self-hosted" : "ubuntu-latest";
  const place = [
    ...(folder === "" ? [] : [`working-directory: ${yaml(folder)}`]),
    ...(manifest === "graphform.yaml" ? [] : [`manifest: ${yaml(manifest)}`]),
    `key: ${key}`,
    ...(state === "file" ? ["state-file: true"] : []),
  ];
  const given = [
    ...[...secrets, ...instead].map((variable) => `${variable}: \${{ secrets.${variable} }}`),
    ...variables.map((variable) => `${variable}: \${{ vars.${variable} }}`),
  ];
  return rendered(template(`github/${name}.yaml`), {
    title: `graphform${isAlone(pipeline) ? "" : ` ${key}`}`,
    name: key,
    environment: target,
    folder: folder === "" ? "." : yaml(folder),
    runner,
    "plan-runner": state === "file" ? `\${{ (${noSecrets}) && 'ubuntu-latest' || '${runner}' }}` : runner,
    "no-secrets": noSecrets,
    place: place.join("\n"),
    variables: given.join("\n"),
  });
}

function gitlabJobs({ key, target, folder, manifest, state, ...needs }: Named): string {
  const [, jobs = ""] = template("gitlab/component.yaml").split(/^---\n/m);
  const text = (value: string): string => JSON.stringify(value.replaceAll("$", "$$$$")).slice(1, -1);
  const asked = [...needs.secrets, ...needs.variables].join(", ");
  const head = `# Written by \`graphform init --ci gitlab\`. A merge request shows its plan in one note. After the merge the plan is made
# again from the merged commit, and the job ${key}-apply, which a person starts, carries out that plan and nothing else, while its
# commit is the newest one. ${asked}
# are variables of the project (Settings, CI/CD, Variables), of the environments ${target}-plan and ${target} where several have some.
`;
  return `${head}${rendered(jobs, {
    name: key,
    "working-directory": folder === "" ? "." : text(folder),
    manifest: text(manifest),
    ...{ args: "", "drift-args": "", version: "", image: "node:24", "lock-timeout": "15m" },
    environment: target,
    "state-file": String(state === "file"),
    ...{ "plan-stage": "plan", "apply-stage": "apply", "drift-stage": "drift" },
  })}`;
}

/** A template of the package with the parts put in that several of them share. */
function template(file: string): string {
  return filled(packageFile(`templates/${file}`), "shared", (name) => template(`shared/${name}`).trimEnd());
}

function rendered(text: string, inputs: { readonly [name: string]: string }): string {
  return filled(text, "inputs", (name) => String(inputs[name]));
}

/** A text in which each `$[[ SCOPE.NAME ]]` has its value. Several lines are indented like the line that they stand in. */
function filled(text: string, scope: string, partOf: (name: string) => string): string {
  const pattern = new RegExp(`\\$\\[\\[ ${scope}\\.([\\w.-]+) \\]\\]`, "g");
  return text.replaceAll(/^( *)(.*)$/gm, (line, indent: string, rest: string) =>
    rest.search(pattern) < 0
      ? line
      : rest.replaceAll(pattern, (_, name: string) => partOf(name)).replaceAll(/^/gm, indent),
  );
}

/** The action of GitHub and the component of GitLab as the package has them, by their paths. `npm run emit` writes them. */
export function publishedPipelines(): { readonly [path: string]: string } {
  const emitted = (file: string): string => `# Emitted from templates/${file}.\n${template(file)}`;
  return {
    "action.yml": emitted("github/action.yaml"),
    "templates/graphform.yml": emitted("gitlab/component.yaml"),
  };
}

/** A value of YAML: plain if YAML reads it so, otherwise between quotes. */
function yaml(text: string): string {
  return /^[A-Za-z][\w./-]*$/.test(text) ? text : JSON.stringify(text);
}

function nextOf(ci: CiService, { target, state, secrets, variables, instead }: Named): readonly string[] {
  const given = `${[...secrets, ...variables].join(", ")}${instead.length === 0 ? "" : ` (or ${instead.join()})`}`;
  const places = `of the environments \`${target}-plan\`, for plans and drift, and \`${target}\`, for applies`;
  return [
    ci === "github"
      ? `Set ${given}, in Settings, Environments: as secrets and variables ${places}. Those of the repository are for all environments.`
      : `Set ${given}, in Settings, CI/CD, Variables: masked, ${places}, or of all.`,
    ...(state === "file" ? [stateInFile] : []),
    ci === "github"
      ? `Give the environment \`${target}\` required reviewers, who read the plan before it is applied, and the branch main alone.`
      : `Protect the environment \`${target}\`. Set GITLAB_TOKEN for notes and issues, and make a pipeline schedule for drift.`,
  ];
}

const stateInFile =
  "The manifest keeps its state in a file: the jobs refuse to run until GRAPHFORM_STATE names one that every job sees.";

/** Lines that an existing pipeline lacks. */
function missing(text: string | undefined): readonly string[] {
  const include = ".gitlab/graphform-*.yml";
  if (text === undefined || text.includes(include)) return [];
  return [`Add to ${gitlabRoot}: the stages plan, apply and drift, and include: [{ local: ${include} }].`];
}

/** CI services that `init` writes pipelines for. */
export type CiService = "github" | "gitlab";

export interface PipelineNeeds extends Required<PipelineVariables> {
  /** Name of the manifest, in letters that fit everywhere in a pipeline. */
  readonly name: string;
  readonly environment: string | undefined;
  readonly state: StoreType;
}

/** Reads the needs of a manifest, as far as it can be read: an invalid one is found by the pipeline. */
export async function pipelineNeeds(text: string, ci: CiService): Promise<PipelineNeeds> {
  const { value = {} } = parseManifest([{ path: "graphform.yaml", text }]);
  const [section, service] = ["state", "service"]
    .map((key) => value[key])
    .map((part) => (isObject(part) ? part : {}));
  const state = typeOf(section ?? {});
  const store = { secrets: [], variables: [], instead: [], ...stores[state].pipeline(section ?? {}, ci) };
  const secrets = ["GRAPHFORM_USERNAME", "GRAPHFORM_PASSWORD", ...store.secrets];
  const named = [...secretVariables(value), ...usedVariables(value)];
  const known = new Set([...secrets, ...store.variables, ...store.instead]);
  const host = (await namesHost(service ?? {})) ? [] : ["GRAPHFORM_PLATFORM_URL"];
  const environment = typeof value["environment"] === "string" ? fitting(value["environment"]) : "";
  const name = typeof value["name"] === "string" ? fitting(value["name"]) : "";
  return {
    name: name === "" ? "graphform" : name,
    environment: environment === "" ? undefined : environment,
    state,
    secrets: [...secrets, ...[...new Set(named)].filter((variable) => !known.has(variable)).sort()],
    variables: [...host, ...store.variables],
    instead: store.instead,
  };
}

/** True if the manifest or its profile says at which address the service is. */
async function namesHost(service: JsonObject): Promise<boolean> {
  const { platformUrl, profile = "default" } = service;
  if (platformUrl !== undefined || typeof profile !== "string") return true;
  const found = await loadProfile(profile).catch(() => undefined);
  return found === undefined || found.platformUrl !== undefined;
}

/** A text in letters that fit everywhere in a pipeline. */
function fitting(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_.-]+/g, "-");
}

/** Variables of `secrets: { password: { env: NAME } }`, with one for each entry if its name holds `each.key`, and those of commands. */
function secretVariables(manifest: JsonObject): readonly string[] {
  const { secrets } = manifest;
  const written = isObject(secrets) ? Object.entries(secrets) : [];
  return written.flatMap(([name, secret]) => {
    const keys = [...entriesUsing(`secret.${name}[`, manifest)];
    return [undefined, ...keys].flatMap((key) => {
      const source = isObject(secret) ? sourceIn(secret, key) : undefined;
      const names =
        source === undefined || "file" in source ? [] : "env" in source ? [source.env] : source.variables;
      return (names ?? []).filter((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
    });
  });
}

/** Keys of each `forEach` that is written out, of the resources in which a text stands. */
function entriesUsing(text: string, manifest: JsonObject): ReadonlySet<string> {
  const blocks = Object.values(manifest).flatMap((section) =>
    isObject(section) ? Object.values(section) : [],
  );
  const found = blocks.flatMap((block) => {
    const { forEach = null } = isObject(block) && JSON.stringify(block).includes(text) ? block : {};
    if (Array.isArray(forEach)) return forEach.map(String);
    return isObject(forEach) ? Object.keys(forEach) : [];
  });
  return new Set(found);
}

/** Variables of `${env.NAME}` anywhere. */
function usedVariables(value: Json): readonly string[] {
  if (typeof value === "string")
    return [...value.matchAll(/\$\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}/g)].map(([, name = ""]) => name);
  if (Array.isArray(value)) return value.flatMap(usedVariables);
  return isObject(value) ? Object.values(value).flatMap(usedVariables) : [];
}
