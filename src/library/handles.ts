/** @module Maps the public handles of the library to their internals, so that its types do not expose them. */
import type { OpenedService } from "../project/open-run.ts";
import type { Project } from "../project/project.ts";
import type { Settings } from "../project/settings.ts";
import type { DurableStore } from "../state/store.ts";

interface Handles<T> {
  set(handle: object, value: T): void;
  /** Throws a `TypeError` for a foreign object. */
  get(handle: object): T;
}

/** Projects by loaded manifest. */
export const projects: Handles<Project & { readonly settings: Settings }> = handlesOf("loadManifest");
/** Stores by open state. */
export const stores: Handles<DurableStore> = handlesOf("openState");
/** Services by open service. */
export const services: Handles<OpenedService & { readonly settings: Settings }> = handlesOf("openService");

/** The internals of three handles: the project with the store of the state, and the service with its settings. */
export function internalsOf(
  manifest: object,
  service: object,
  state: object,
): { readonly project: Project; readonly service: OpenedService & { readonly settings: Settings } } {
  const project = { ...projects.get(manifest), store: stores.get(state) };
  return { project, service: services.get(service) };
}

function handlesOf<T>(maker: string): Handles<T> {
  const values = new WeakMap<object, T>();
  return {
    set(handle, value) {
      values.set(handle, value);
    },
    get(handle) {
      const value = values.get(handle);
      if (value === undefined) throw new TypeError(`this was not made by ${maker}`);
      return value;
    },
  };
}
