import { stat } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { loadProfile } from "../hosting/profile.ts";
import { kinds } from "../kinds/index.ts";
import { loadManifest } from "../manifest/load.ts";
import { parseManifest } from "../manifest/parse.ts";
import { readHeader } from "../manifest/read-header.ts";
import { resolveManifest } from "../manifest/resolve.ts";
import type { SecretText } from "../manifest/secrets.ts";
import type { Parsed, SourceFile } from "../manifest/source.ts";
import { validators } from "../manifest/validators.generated.js";
import { ManifestError } from "../model/errors.ts";
import type { Header, Manifest } from "../model/manifest.ts";
import type { Problem } from "../model/problem.ts";
import type { Profile } from "../model/profile.ts";
import type { Vault } from "../model/sealed.ts";
import { createFileStore } from "../state/file-store.ts";
import type { StateStore } from "../state/store.ts";
import { createVault, newKey } from "../state/vault.ts";
import type { RunOptions } from "./run-options.ts";
import { givenVariables } from "./variables.ts";

/** A manifest that was read, with its profile and its state's place; nothing is resolved yet. */
export interface Project {
  readonly files: readonly string[];
  /** The folder of the first manifest file: what belongs to the manifest stands beside it. */
  readonly folder: string;
  readonly parsed: Parsed;
  readonly header: Header;
  readonly profile: Profile;
  readonly variables: { readonly [name: string]: string };
  readonly store: StateStore;
  /** ISO 8601: the newest of the manifest's files. */
  readonly timestamp: string;
}

type ProjectOptions = Pick<RunOptions, "file" | "state"> &
  Partial<Pick<RunOptions, "var" | "varFile" | "profile">>;

/** Reads a manifest's files and its header. Throws ManifestError with everything that is wrong so far. */
export async function openProject(options: ProjectOptions): Promise<Project> {
  const files = options.file.length === 0 ? ["graphform.yaml"] : options.file;
  const loaded = await loadManifest(files);
  if (loaded.problems.length > 0) throw new ManifestError(loaded.problems);
  const paths = loaded.sources.map((source) => source.path);
  return projectOf(loaded.sources, options, await newest(paths));
}

/** A project of manifest texts that were read already. Throws ManifestError. */
export async function projectOf(
  sources: readonly SourceFile[],
  options: Omit<ProjectOptions, "file">,
  timestamp: string,
): Promise<Project> {
  const parsed = parseManifest(sources);
  const variables = await givenVariables(options.var ?? [], options.varFile ?? []);
  const { header, problems } = readHeader(parsed, { kinds, validators, variables });
  const profile = await loadProfile(options.profile ?? header?.service?.profile ?? "default");
  if (header === undefined) throw new ManifestError(await allProblems(parsed, profile, variables, problems));
  const folder = dirname(sources[0]?.path ?? "");
  const store = stateStore(header, folder, options.state);
  return {
    files: sources.map((source) => source.path),
    folder,
    parsed,
    header,
    profile,
    variables,
    store,
    timestamp,
  };
}

/** A manifest with everything resolved, and the secrets of this run. */
export interface Resolved {
  readonly manifest: Manifest;
  readonly vault: Vault;
}

/** The state whose key seals the secrets of a run; without one they stand as labels. */
export interface VaultKey {
  readonly key: string | undefined;
}

/** Resolves a project against its state's key. Throws ManifestError. */
export async function resolveProject(
  project: Project,
  state: VaultKey,
  secretText: SecretText,
): Promise<Resolved> {
  const vault = createVault(state.key);
  const { manifest, problems, warnings } = await resolveWith(project, vault, secretText);
  if (manifest === undefined) throw new ManifestError([...problems, ...warnings]);
  return { manifest, vault };
}

/** The secrets of a project that are at hand, whatever else is wrong with it: for commands that need none. */
export async function secretsOf(
  project: Pick<Project, "parsed" | "profile" | "variables">,
  secretText: SecretText,
): Promise<Vault> {
  const vault = createVault(newKey());
  await resolveWith(project, vault, secretText);
  return vault;
}

/** What is wrong with the resources of a manifest whose header is wrong already, so that all is shown at once. */
async function allProblems(
  parsed: Parsed,
  profile: Profile,
  variables: { readonly [name: string]: string },
  problems: readonly Problem[],
): Promise<readonly Problem[]> {
  const { noSecrets } = await import("../manifest/read-secret.ts");
  const all = await resolveWith({ parsed, profile, variables }, createVault(newKey()), noSecrets);
  return all.problems.length > 0 ? all.problems : problems;
}

function resolveWith(
  { parsed, profile, variables }: Pick<Project, "parsed" | "profile" | "variables">,
  { seal }: Vault,
  secretText: SecretText,
): ReturnType<typeof resolveManifest> {
  const today = new Date().toISOString().slice(0, 10);
  return resolveManifest(parsed, { kinds, validators, profile, variables, secretText, seal, today });
}

/** The store of a manifest's state; `given` is the path of an option. */
export function stateStore(header: Header, folder: string, given: string | undefined): StateStore {
  return createFileStore({ ...statePlace(header, folder, given), name: header.name });
}

/**
 * Where the state is: where an option says, or `state.path`, which counts from the current folder as every path in a
 * manifest does; otherwise beside the manifest, wherever the command is run. `elsewhere` is the other of the two folders.
 */
function statePlace(
  header: Header,
  folder: string,
  given: string | undefined,
): { readonly path: string; readonly elsewhere?: string } {
  const { path } = header.state;
  if (given !== undefined) return { path: given };
  if (typeof path === "string") return isAbsolute(path) ? { path } : { path, elsewhere: join(folder, path) };
  const usual = join(".graphform", `${header.name}.state.json`);
  return { path: join(folder, usual), elsewhere: usual };
}

async function newest(paths: readonly string[]): Promise<string> {
  const times = await Promise.all(paths.map(async (path) => (await stat(path)).mtimeMs));
  return new Date(Math.max(0, ...times)).toISOString();
}
