/** @module Makes the pipelines that `init --ci` writes for a manifest. */
import { existsSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { githubWorkflows } from "./github-workflows.ts";
import { gitlabPipeline } from "./gitlab-pipeline.ts";
import { fitting, type PipelineFile, type PipelineNeeds, pipelineNeeds } from "./pipeline-needs.ts";

/** CI services that `init` writes pipelines for. */
export type CiService = "github" | "gitlab";

/** Files of a pipeline, and what a person has to do next. */
export interface Pipelines {
  readonly files: readonly PipelineFile[];
  /** Text for people. */
  readonly next: string;
}

/** The pipelines for the text of a manifest. They stand in the root of the repository, and run in the current folder. */
export function pipelinesFor(ci: CiService, manifest: string, text: string): Pipelines {
  const root = rootOf(resolve("."));
  const folder = relative(root, resolve(".")).replaceAll("\\", "/");
  const read = pipelineNeeds(text);
  const needs: PipelineNeeds = { ...read, name: nameIn(folder, read.name), manifest, folder };
  const files = ci === "github" ? githubWorkflows(needs) : [gitlabPipeline(needs)];
  return {
    files: files.map((file) => ({ ...file, path: join(relative(".", root), file.path) })),
    next: nextOf(ci, needs),
  };
}

/** The manifest's name; that of its folder too where it is not in it: manifests of several folders often have one name. */
function nameIn(folder: string, name: string): string {
  const last = fitting(basename(folder));
  return folder === "" || name.includes(last) ? name : `${name}-${last}`;
}

/** The folder of the repository; the folder itself where there is none. */
function rootOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return folder;
  }
}

function nextOf(ci: CiService, { state, secrets, stateSecrets }: PipelineNeeds): string {
  const where = ci === "github" ? "Settings, Secrets and variables, Actions" : "Settings, CI/CD, Variables";
  const names = ["GRAPHFORM_USERNAME", "GRAPHFORM_PASSWORD", ...stateSecrets, ...secrets];
  return [
    `Set ${names.join(", ")} (${where}).`,
    ...(state === "file"
      ? [
          "The manifest keeps its state in a file: the jobs refuse to run until GRAPHFORM_STATE names one that every job sees; their comments say how.",
        ]
      : []),
    ci === "github"
      ? "Give the environment `production` required reviewers: they read the plan before it is applied."
      : "Set GITLAB_TOKEN for notes and issues, and make a pipeline schedule for drift.",
  ].join("\n");
}
