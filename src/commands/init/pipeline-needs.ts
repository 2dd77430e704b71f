/** @module Reads from a manifest what its pipelines need: its name, the kind of its state, and the secrets that it names. */
import { parseManifest } from "../../manifest/parse.ts";
import { isObject, type Json } from "../../model/json.ts";

/** Kind of the store that keeps the state of a manifest. */
export type StateKind = "file" | "http" | "s3" | "postgres";

/** Everything that the text of a pipeline depends on. */
export interface PipelineNeeds {
  /** Name of the manifest, in letters that fit everywhere in a pipeline. */
  readonly name: string;
  readonly state: StateKind;
  /** Variables with the credentials of the state's store. */
  readonly stateSecrets: readonly string[];
  /** Variables that the manifest names. */
  readonly secrets: readonly string[];
  /** The manifest, relative to `folder`. */
  readonly manifest: string;
  /** Folder in the repository, empty for its root. */
  readonly folder: string;
}

/** One file of a pipeline; its path begins at the root of the repository. */
export interface PipelineFile {
  readonly path: string;
  readonly text: string;
}

const storeVariables: { readonly [kind in StateKind]: readonly string[] } = {
  file: [],
  http: ["GRAPHFORM_STATE_USERNAME", "GRAPHFORM_STATE_PASSWORD", "GRAPHFORM_STATE_TOKEN"],
  s3: ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
  postgres: ["GRAPHFORM_STATE_POSTGRES_URL"],
};

/** Variables that every pipeline passes, or that are set by the pipeline itself. */
const known = new Set([...Object.values(storeVariables).flat(), "GRAPHFORM_USERNAME", "GRAPHFORM_PASSWORD"]);

/** Reads the needs of a manifest, as far as it can be read: an invalid one is found by the pipeline. */
export function pipelineNeeds(text: string): Omit<PipelineNeeds, "manifest" | "folder"> {
  const { value = {} } = parseManifest([{ path: "graphform.yaml", text }]);
  const name = typeof value["name"] === "string" ? fitting(value["name"]) : "";
  const section = value["state"];
  const written = isObject(section) ? (section["type"] ?? section["backend"]) : undefined;
  const state = isStateKind(written) ? written : "file";
  const named = new Set([...secretVariables(value["secrets"] ?? null), ...usedVariables(value)]);
  return {
    name: name === "" ? "graphform" : name,
    state,
    stateSecrets: storeVariables[state],
    secrets: [...named].filter((variable) => !known.has(variable)).sort(),
  };
}

/** A text in letters that fit everywhere in a pipeline. */
export function fitting(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_.-]+/g, "-");
}

function isStateKind(value: Json | undefined): value is StateKind {
  return typeof value === "string" && Object.hasOwn(storeVariables, value);
}

/** Variables of `secrets: { password: { env: NAME } }`. */
function secretVariables(section: Json): readonly string[] {
  if (!isObject(section)) return [];
  return Object.values(section).flatMap((secret) =>
    isObject(secret) && typeof secret["env"] === "string" && isVariable(secret["env"]) ? [secret["env"]] : [],
  );
}

/** Variables of `${env.NAME}` anywhere. */
function usedVariables(value: Json): readonly string[] {
  if (typeof value === "string")
    return [...value.matchAll(/\$\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}/g)].map(([, name = ""]) => name);
  if (Array.isArray(value)) return value.flatMap(usedVariables);
  return isObject(value) ? Object.values(value).flatMap(usedVariables) : [];
}

function isVariable(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
}

/** Options of every command that reads the manifest and the state, for a line of shell. */
export function manifestOptions(needs: PipelineNeeds): string {
  return `${fileOption(needs)}${stateOption(needs)}`;
}

/** Option that names the manifest, where it is not the usual one. */
export function fileOption({ manifest }: PipelineNeeds): string {
  return manifest === "graphform.yaml" ? "" : ` -f '${manifest.replaceAll("'", `'\\''`)}'`;
}

/** Option that names the state, where no shared store keeps it. */
export function stateOption({ state }: PipelineNeeds): string {
  return state === "file" ? ' --state "$GRAPHFORM_STATE"' : "";
}

/** A line of shell as a value of YAML: plain where YAML reads it so, otherwise between quotes. */
export function yamlLine(line: string): string {
  const isPlain = /^[A-Za-z]/.test(line) && !/: | #|:$/.test(line);
  return isPlain ? line : JSON.stringify(line);
}

/** A path below the folder of the manifest, from the root of the repository. */
export function inFolder({ folder }: PipelineNeeds, file: string): string {
  return folder === "" ? file : `${folder}/${file}`;
}
