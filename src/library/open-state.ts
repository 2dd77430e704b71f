/** @module Opens the state of a manifest for a program. */
import type { StateDocument } from "../model/state.ts";
import { stateStore } from "../project/project.ts";
import { projects, stores } from "./handles.ts";
import type { LoadedManifest } from "./load-manifest.ts";

/** The state of a manifest; `openState` does not read the file yet. */
export interface OpenState {
  /** The path of its file. */
  readonly where: string;
  /** Reads the state; undefined before the first apply. Throws `state-*` if the document is invalid. */
  read(): Promise<StateDocument | undefined>;
}

/** Opens the state at `path`, or at the path from the manifest. */
export function openState(manifest: LoadedManifest, { path }: { readonly path?: string } = {}): OpenState {
  const project = projects.get(manifest);
  const store = path === undefined ? project.store : stateStore(project.header, project.folder, path);
  const state: OpenState = { where: store.where, read: () => store.read() };
  stores.set(state, store);
  return state;
}
