/** @module Opens the state of a manifest for a program. */
import type { StateDocument } from "../model/state.ts";
import { stateStore } from "../project/project.ts";
import { projects, stores } from "./behind.ts";
import type { LoadedManifest } from "./load-manifest.ts";

/** The state of a manifest. Opening it reads nothing. */
export interface OpenState {
  /** The path of its file. */
  readonly where: string;
  /** What is stored; undefined before the first apply. Throws `state-*` where a document is not to be trusted. */
  read(): Promise<StateDocument | undefined>;
}

/** The state at `path`, or where the manifest says it is. */
export function openState(manifest: LoadedManifest, { path }: { readonly path?: string } = {}): OpenState {
  const project = projects.of(manifest);
  const store = path === undefined ? project.store : stateStore(project.header, project.folder, path);
  const state: OpenState = { where: store.where, read: () => store.read() };
  stores.keep(state, store);
  return state;
}
