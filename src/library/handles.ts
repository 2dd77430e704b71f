/** @module Maps the public handles of the library to their internals, so that its types do not expose them. */
import type { Connection } from "../project/connect.ts";
import type { ServiceLocation } from "../project/locate-service.ts";
import type { Project } from "../project/project.ts";
import type { Settings } from "../project/settings.ts";
import type { StateStore } from "../state/store.ts";

/** Internals of an open service. */
interface ServiceParts {
  readonly location: ServiceLocation;
  readonly connection: Connection;
  readonly settings: Settings;
}

interface Handles<T> {
  set(handle: object, value: T): void;
  /** Throws a `TypeError` for a foreign object. */
  get(handle: object): T;
}

/** Projects by loaded manifest. */
export const projects: Handles<Project & { readonly settings: Settings }> = handlesOf("loadManifest");
/** Stores by open state. */
export const stores: Handles<StateStore> = handlesOf("openState");
/** Connections by open service. */
export const services: Handles<ServiceParts> = handlesOf("openService");

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
