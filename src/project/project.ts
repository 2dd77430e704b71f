/** @module Opens a manifest with its profile and the store of its state. */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { loadProfile } from "../hosting/profile/load-profile.ts";
import { kinds } from "../kinds/index.ts";
import { readHeader } from "../manifest/header.ts";
import { loadManifest } from "../manifest/load.ts";
import { rangeAt } from "../manifest/locate.ts";
import { parseManifest } from "../manifest/parse.ts";
import { finishProblems } from "../manifest/problems/excerpt.ts";
import { errorAt } from "../manifest/problems/fault.ts";
import { noSecrets } from "../manifest/read-secret.ts";
import { resolveManifest } from "../manifest/resolve.ts";
import type { SecretText } from "../manifest/secrets.ts";
import type { Parsed, SourceFile } from "../manifest/source.ts";
import { validators } from "../manifest/validators.generated.js";
import { exitCodes, GraphformError, isGraphformError, ManifestError, type Problem } from "../model/errors.ts";
import { defined, mapped } from "../model/json.ts";
import type { Header, Manifest, ManifestLimits } from "../model/manifest.ts";
import type { Vault } from "../model/sealed.ts";
import type { Profile } from "../model/service.ts";
import type { ManifestIdentity } from "../model/service-identity.ts";
import type { StateLocation } from "../model/stores/index.ts";
import type { DurableStore } from "../state/store.ts";
import { createVault, newKey } from "../state/vault.ts";
import { manifestRead } from "../telemetry/channels.ts";
import { locateState, manifestIdentity } from "./locate-state.ts";
import { openStore } from "./open-store.ts";
import type { Settings } from "./settings.ts";

/** Locations for a run. An absent value comes from the environment, the manifest, or last the local platform. */
export interface RunOptions {
  /** Manifest files or folders; empty means `graphform.yaml`. */
  readonly file: readonly string[];
  /** Variables as `name=value`; they override those of files. */
  readonly var: readonly string[];
  readonly varFile: readonly string[];
  readonly state?: string;
  /** A built-in profile's name, or a file. */
  readonly profile?: string;
  readonly platformUrl?: string;
  readonly usersUrl?: string;
  /** Id of the subscription that owns the instances. */
  readonly subscription?: string;
  /** Largest number of requests in flight. */
  readonly parallelism?: number;
  /** Longest wait for an answer, and for a resource, in ms. */
  readonly timeout?: number;
}

/** A manifest that is read but not resolved, with its profile and its state store. */
export interface Project {
  readonly files: readonly string[];
  /** Folder of the first manifest file; the state and the local platform are beside it. */
  readonly folder: string;
  readonly parsed: Parsed;
  readonly header: Header;
  /** Tells it from other manifests, as far as that can be known. */
  readonly identity: ManifestIdentity;
  readonly profile: Profile;
  readonly variables: { readonly [name: string]: string };
  /** Set if the author of the manifest is not trusted. */
  readonly limits?: ManifestLimits | undefined;
  readonly location: StateLocation;
  readonly store: DurableStore;
  /** Modification time of the newest manifest file, ISO 8601. */
  readonly timestamp: string;
}

/** A manifest as it is written, with the variables and secrets that resolve it. */
export type WrittenProject = Pick<Project, "parsed" | "profile" | "variables" | "limits">;

type ProjectOptions = Pick<RunOptions, "file" | "state"> &
  Partial<Pick<RunOptions, "var" | "varFile" | "profile" | "timeout">> & {
    readonly limits?: ManifestLimits | undefined;
  };

/** The files or folders of the manifest that a command is about. */
export function namedFiles({ file }: Pick<RunOptions, "file">): readonly string[] {
  return file.length === 0 ? ["graphform.yaml"] : file;
}

/** Reads files and header of a manifest, with `layers` over them. Throws `ManifestError` with all problems so far. */
export async function openProject(
  options: ProjectOptions,
  settings: Settings,
  layers: readonly SourceFile[] = [],
): Promise<Project> {
  const files = layers.length === 0 ? namedFiles(options) : options.file;
  const loaded = await loadManifest(files, options.limits?.folder);
  if (loaded.problems.length > 0) throw new ManifestError(loaded.problems);
  const paths = loaded.sources.map((source) => source.path);
  return projectOf([...loaded.sources, ...layers], options, await newest(paths), settings);
}

/** Opens a project from manifest texts. Throws `ManifestError`. */
export async function projectOf(
  sources: readonly SourceFile[],
  options: Omit<ProjectOptions, "file">,
  timestamp: string,
  settings: Settings,
): Promise<Project> {
  const parsed = parseManifest(sources);
  const { limits } = options;
  const variables = await givenVariables(options.var ?? [], options.varFile ?? [], limits?.folder);
  const { header, profile: named, problems } = readHeader(parsed, { kinds, validators, variables, limits });
  if (header !== undefined) manifestRead.publish({ name: header.name });
  const profile = await loadProfile(options.profile ?? named ?? "default").catch((error: unknown) => {
    if (options.profile !== undefined || named === undefined || !isGraphformError(error)) throw error;
    const { code, message, hint = "" } = error;
    const fault = errorAt(rangeAt(parsed.layers, ["service", "profile"], "value"), { code, message, hint });
    throw new ManifestError([...problems, ...finishProblems([fault], "error", parsed, kinds.all)]);
  });
  const read = { parsed, profile, variables, limits };
  if (header === undefined)
    throw new ManifestError((await resolveWith(read, createVault(newKey()), noSecrets)).problems);
  const folder = dirname(sources[0]?.path ?? "");
  const location = locateState(header, folder, options.state, settings, sources[0]?.path);
  const store = openStore(location, settings, { header, folder, answerWithin: options.timeout });
  const files = sources.map((source) => source.path);
  const identity = manifestIdentity(header, files);
  return { files, folder, ...read, header, identity, location, store, timestamp };
}

/** A resolved manifest, and the secrets of this run. */
export interface Resolved {
  readonly manifest: Manifest;
  readonly vault: Vault;
}

/** Resolves a project; seals its secrets with the key of the state, or makes them labels without one. Throws `ManifestError`. */
export async function resolveProject(
  project: Project,
  key: string | undefined,
  secretText: SecretText,
): Promise<Resolved> {
  const vault = createVault(key);
  const { manifest, problems, warnings } = await resolveWith(project, vault, secretText);
  if (manifest === undefined) throw new ManifestError([...problems, ...warnings]);
  return { manifest, vault };
}

/** Reads the available secrets of a project, even an invalid one, to mask them in commands that need no secret. */
export async function secretsOf(project: WrittenProject, secretText: SecretText): Promise<Vault> {
  const vault = createVault(newKey());
  await resolveWith(project, vault, secretText);
  return vault;
}

function resolveWith(
  { parsed, profile, variables, limits }: WrittenProject,
  { seal }: Vault,
  secretText: SecretText,
): ReturnType<typeof resolveManifest> {
  const today = new Date().toISOString().slice(0, 10);
  return resolveManifest(parsed, { kinds, validators, profile, variables, limits, secretText, seal, today });
}

async function newest(paths: readonly string[]): Promise<string> {
  const times = await Promise.all(paths.map(async (path) => (await stat(path)).mtimeMs));
  return new Date(Math.max(0, ...times)).toISOString();
}

/** Variables as text. Later ones override earlier ones, and --var overrides files. Throws `variable-form`. */
export async function givenVariables(
  pairs: readonly string[],
  files: readonly string[],
  root?: string,
): Promise<{ readonly [name: string]: string }> {
  const fromFiles = await Promise.all(files.map((file) => readVariableFile(file, root)));
  return Object.fromEntries([...fromFiles, ...pairs.map(readPair)].flatMap((given) => Object.entries(given)));
}

/** The variables of a file as text. Throws `variable-file` (exit 3), without quoting the content, which may be secret. */
async function readVariableFile(
  file: string,
  root: string | undefined,
): Promise<{ readonly [name: string]: string }> {
  const { sources, problems } = await loadManifest([file], root);
  const { value, findings } = parseManifest(sources);
  const [first] = [...problems, ...findings];
  if (first !== undefined || value === undefined) {
    const isOther = first === undefined || ["empty", "not-a-map"].includes(first.code);
    const { line, column } = first?.range.start ?? { line: 1, column: 1 };
    const why = isOther ? "it must be a map of names to values" : first.message;
    throw new GraphformError("variable-file", `--var-file ${file}:${line}:${column}: ${why}`, {
      exitCode: exitCodes.invalid,
      // The hint of a missing file is about manifests.
      ...(isOther || problems.length > 0 ? {} : defined({ hint: first.hint })),
    });
  }
  return mapped(value, (given) => (typeof given === "object" ? JSON.stringify(given) : String(given)));
}

function readPair(pair: string): { readonly [name: string]: string } {
  const at = pair.indexOf("=");
  if (at > 0) return { [pair.slice(0, at)]: pair.slice(at + 1) };
  // The text may be a secret, so the message does not repeat it.
  throw new GraphformError("variable-form", "--var must be followed by name=value, and one of them is not", {
    exitCode: exitCodes.invalid,
  });
}

/** Checks a manifest: its errors and warnings. `open` may throw `ManifestError`; any other error is thrown on. */
export async function manifestProblems(open: () => Promise<Project>): Promise<readonly Problem[]> {
  try {
    return (await checkedManifest(await open())).warnings;
  } catch (error) {
    if (error instanceof ManifestError) return error.problems;
    throw error;
  }
}

/** Resolves a manifest with secrets that stay unread. Throws `ManifestError`. */
export async function checkedManifest(project: Project): Promise<Manifest> {
  const { manifest } = await resolveProject(project, newKey(), noSecrets);
  return manifest;
}
