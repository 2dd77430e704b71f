/** @module Opens the state of a manifest for a program. */
import type { StateDocument } from "../model/state.ts";
import { namedLocation } from "../project/locate-state.ts";
import { openStore } from "../project/open-store.ts";
import { projects, stores } from "./handles.ts";
import type { LoadedManifest } from "./load-manifest.ts";

/** The state of a manifest; `openState` reads nothing yet. */
export interface OpenState {
  /** Its path, or its address without credentials. */
  readonly where: string;
  /**
   * Reads the state, with what an earlier run on this machine could not store and `graphform state push` has yet to store;
   * undefined before the first apply. Throws `state-*` if the document is invalid.
   */
  read(): Promise<StateDocument | undefined>;
}

/** Opens the state at `path` (a path, or a URL as `--state` takes it), or at the place from the manifest. */
export function openState(manifest: LoadedManifest, { path }: { readonly path?: string } = {}): OpenState {
  const project = projects.get(manifest);
  const { header, folder, settings } = project;
  const store =
    path === undefined ? project.store : openStore(namedLocation(path, header), settings, { header, folder });
  const read: OpenState["read"] = async () => (await store.unpushed?.())?.state ?? store.read();
  const state: OpenState = { where: store.where, read };
  stores.set(state, store);
  return state;
}
