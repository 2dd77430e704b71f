/** @module Keeps the create classes of one run, and opens each of them once. */
import type { ApplyContext } from "../context.ts";
import { type CreateClass, openCreateClass } from "./create-class.ts";

/** The create classes of one run. */
export interface ClassRegistry {
  /** The class of a key, opened at its first use. */
  classFor(key: string): CreateClass;
}

/** Opens a registry that has no class yet. */
export function openClassRegistry(context: Omit<ApplyContext, "classes">): ClassRegistry {
  const classes = new Map<string, CreateClass>();
  return {
    classFor(key) {
      const known = classes.get(key) ?? openCreateClass(key, context);
      classes.set(key, known);
      return known;
    },
  };
}
