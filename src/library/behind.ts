/** @module Keeps what is behind the objects that programs hold, so that their types show nothing of it. */
import type { Connection } from "../project/connect.ts";
import type { ServiceLocation } from "../project/locate-service.ts";
import type { Project } from "../project/project.ts";
import type { StateStore } from "../state/store.ts";

/** What is behind an open service. */
interface ServiceParts {
  readonly location: ServiceLocation;
  readonly connection: Connection;
  readonly env: { readonly [name: string]: string | undefined };
  /** The secrets that are hidden in what the service says in its own words. */
  readonly secrets: Set<string>;
}

interface Kept<T> {
  keep(handle: object, value: T): void;
  /** Throws where the handle was made by somebody else. */
  of(handle: object): T;
}

/** By loaded manifest. */
export const projects: Kept<Project> = kept("loadManifest");
/** By open state. */
export const stores: Kept<StateStore> = kept("openState");
/** By open service. */
export const services: Kept<ServiceParts> = kept("openService");

function kept<T>(maker: string): Kept<T> {
  const values = new WeakMap<object, T>();
  return {
    keep(handle, value) {
      values.set(handle, value);
    },
    of(handle) {
      const value = values.get(handle);
      if (value === undefined) throw new TypeError(`this was not made by ${maker}`);
      return value;
    },
  };
}
