/** @module Keeps the create classes of one run, and opens each of them once. */
import type { ApplyContext } from "../context.ts";
import { openCreateClass } from "./create-class.ts";
import type { ClassRegistry, CreateClass } from "./create-request.ts";

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
