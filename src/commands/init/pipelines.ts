/** @module Makes the pipelines that `init --ci` writes and those that the package publishes, from one set of templates. */
import { existsSync, readFileSync } from "node:fs";
import { basename, extname, join, relative, resolve } from "node:path";
import { repositoryOf } from "../../project/locate-state.ts";
import { packageRoot } from "../../project/package-files.ts";
import { type CiService, fitting, type PipelineNeeds, pipelineNeeds } from "./pipeline-needs.ts";

interface PipelineFile {
  readonly path: string;
  readonly text: string;
}

/** Files of a pipeline, and what a person has to do next. */
export interface Pipelines {
  readonly files: readonly PipelineFile[];
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
): readonly PipelineFile[] {
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
  // A state in a file is seen by runners of one's own, which run nothing that a stranger has written.
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

/** The component with its inputs put in. */
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
    ...{
      args: "",
      "drift-args": "",
      version: "",
      image: "node:24",
      environment: target,
      "lock-timeout": "15m",
    },
    "state-file": String(state === "file"),
    ...{ "plan-stage": "plan", "apply-stage": "apply", "drift-stage": "drift" },
  })}`;
}

/** A template of the package with the parts put in that several of them share. */
function template(file: string): string {
  const text = readFileSync(join(packageRoot, "templates", file), "utf8");
  return filled(text, "shared", (name) => template(`shared/${name}`).trimEnd());
}

/** A template with its inputs put in. */
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
    ...(state === "file"
      ? [
          "The manifest keeps its state in a file: the jobs refuse to run until GRAPHFORM_STATE names one that every job sees.",
        ]
      : []),
    ci === "github"
      ? `Give the environment \`${target}\` required reviewers, who read the plan before it is applied, and the branch main alone.`
      : `Protect the environment \`${target}\`. Set GITLAB_TOKEN for notes and issues, and make a pipeline schedule for drift.`,
  ];
}

/** Lines that an existing pipeline lacks. */
function missing(text: string | undefined): readonly string[] {
  const include = ".gitlab/graphform-*.yml";
  if (text === undefined || text.includes(include)) return [];
  return [`Add to ${gitlabRoot}: the stages plan, apply and drift, and include: [{ local: ${include} }].`];
}
