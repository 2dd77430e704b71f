/** @module Opens the manifest, the service and the state of a program, and validates a manifest. */
import { join } from "node:path";
import process from "node:process";
import { secretReader } from "../manifest/read-secret.ts";
import { GraphformError, type Problem } from "../model/errors.ts";
import { defined, type JsonObject } from "../model/json.ts";
import type { ManifestLimits, SecretSource } from "../model/manifest.ts";
import type { StateDocument } from "../model/state.ts";
import { connect } from "../project/connect-service.ts";
import { locateService } from "../project/locate-service.ts";
import { namedLocation } from "../project/locate-state.ts";
import { latestState, learnSecretsAtHand } from "../project/open-run.ts";
import { openStore } from "../project/open-store.ts";
import { manifestProblems, openProject } from "../project/project.ts";
import { settingsOf } from "../project/settings.ts";
import { projects, services, stores } from "./handles.ts";

/** Input of `loadManifest`. */
export interface ManifestRequest {
  /** Manifest files or folders; default `graphform.yaml` in the current folder, unless there are `objects`. Later files override earlier ones. */
  readonly files?: readonly string[];
  /** Layers as plain data, laid over the files: what a manifest in JSON would hold. */
  readonly objects?: readonly JsonObject[];
  /** Folder that a manifest of objects alone stands in: its state is kept there. Default: the current folder. */
  readonly folder?: string;
  readonly variables?: { readonly [name: string]: string };
  readonly variableFiles?: readonly string[];
  /** Name of a built-in profile, or a file; default is that of the manifest. */
  readonly profile?: string;
  /** Environment with the place of the state and the credentials for it; default is that of the process. */
  readonly env?: { readonly [name: string]: string | undefined };
  /**
   * For a manifest by an author who may not run programs, read this machine or choose the service: it may name no service and no state, and
   * every file must be in the folder. Each breach is a problem of the manifest.
   */
  readonly limits?: ManifestLimits;
}

/** A manifest with a valid header. `plan`, `apply` and `validate` resolve its resources. */
export interface LoadedManifest {
  readonly name: string;
  readonly files: readonly string[];
}

/** Reads a manifest. Throws `ManifestError`; its `problems` have file, line and column; `no-objects` if that list is empty. */
export async function loadManifest(request: ManifestRequest = {}): Promise<LoadedManifest> {
  const { files = [], objects = [], folder = "." } = request;
  const { variables = {}, variableFiles = [], profile, env = process.env, limits } = request;
  if (request.objects?.length === 0 && files.length === 0)
    throw new GraphformError("no-objects", "objects is empty: there is no manifest to read");
  const settings = settingsOf(env);
  const options = {
    file: files,
    var: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
    varFile: variableFiles,
    ...defined({ profile, limits }),
  };
  const layers = objects.map((layer, at) => ({
    path: join(folder, `object-${at + 1}.json`),
    text: JSON.stringify(layer, null, 2),
  }));
  const project = await openProject(options, settings, layers);
  const manifest: LoadedManifest = { name: project.header.name, files: project.files };
  projects.set(manifest, { ...project, settings });
  return manifest;
}

/** Returns errors and warnings, without network and without reading a secret. An empty list means valid. */
export async function validate(request: ManifestRequest = {}): Promise<readonly Problem[]> {
  return manifestProblems(async () => projects.get(await loadManifest(request)));
}

/** Location of a service. An absent value comes from the environment, the manifest, or last the local platform. */
export interface ServiceRequest {
  readonly platformUrl?: string;
  readonly usersUrl?: string;
  /** Id of the subscription that owns the instances. */
  readonly subscription?: string;
  /** Largest number of requests in flight. */
  readonly parallelism?: number;
  /** Longest wait for an answer, its repetitions included, in ms. */
  readonly timeout?: number;
  /** Environment with `GRAPHFORM_USERNAME`, `GRAPHFORM_PASSWORD` and the secrets; default is that of the process. */
  readonly env?: { readonly [name: string]: string | undefined };
  /** Called with one line per request, without secrets. */
  readonly onRequest?: (line: string) => void;
}

/** A service to plan against and to apply to. Close it when done. */
export interface OpenService {
  readonly platformUrl: string;
  close(): Promise<void>;
}

/** Finds the service and prepares the client. Sends nothing. Throws `no-service`, `no-credentials`. */
export async function openService(
  manifest: LoadedManifest,
  request: ServiceRequest = {},
): Promise<OpenService> {
  const { env = process.env, onRequest = () => undefined, ...options } = request;
  const settings = settingsOf(env);
  const project = projects.get(manifest);
  await learnSecretsAtHand(project, settings);
  const location = await locateService(project, options, settings);
  const connection = await connect(location, options, settings, onRequest);
  const service: OpenService = { platformUrl: location.platformUrl, close: () => connection.close() };
  services.set(service, { location, connection, settings });
  return service;
}

/** The state of a manifest; `openState` reads nothing yet. */
export interface OpenState {
  /** Its path, or its address without credentials. */
  readonly where: string;
  /**
   * Reads the state, with what an earlier run on this machine could not store and `graphform state push` has yet to store;
   * undefined before the first apply. Throws `state-*` if the document is invalid.
   */
  read(): Promise<StateDocument | undefined>;
  /** Creates the tables or folders of the store and tests it. Throws `state-*`. */
  prepare(): Promise<void>;
}

/** Opens the state at `path` (a path, or a URL as `--state` takes it), or at the place from the manifest. */
export function openState(manifest: LoadedManifest, { path }: { readonly path?: string } = {}): OpenState {
  const { header, folder, settings, store: usual } = projects.get(manifest);
  const store =
    path === undefined ? usual : openStore(namedLocation(path, header), settings, { header, folder });
  const state: OpenState = {
    where: store.where,
    read: () => latestState(store),
    prepare: () => store.prepare(),
  };
  stores.set(state, store);
  return state;
}

/**
 * Reads a secret of a program's own configuration, as the secrets of a manifest are read. `name` is for messages. Throws
 * `secret-unavailable`, without the secret in the text.
 */
export async function readSecret(
  name: string,
  source: SecretSource,
  { env = process.env, signal }: Pick<ManifestRequest, "env"> & { readonly signal?: AbortSignal } = {},
): Promise<string> {
  return (await secretReader(env, undefined, signal)(name, source)) ?? "";
}
