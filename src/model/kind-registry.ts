/** @module Looks kinds up by their names; built once, where the kinds are listed. */
import type { Kind } from "./kind.ts";

/** Every kind of a program. */
export interface KindRegistry {
  /** In the order of their list. */
  readonly all: readonly Kind[];
  /** The kind of a section. Throws where the composition root forgot it. */
  named(section: string): Kind;
  /** The kind of a section that somebody has written; undefined where there is none. */
  find(section: string): Kind | undefined;
}

/** Makes the registry of these kinds. */
export function kindRegistry(all: readonly Kind[]): KindRegistry {
  const bySection = new Map(all.map((kind) => [kind.name, kind]));
  return {
    all,
    named: (section) => present(bySection.get(section), section),
    find: (section) => bySection.get(section),
  };
}

/** A kind, its reader or its driver, found by the kind's section. Throws where there is none: a mistake of the program. */
export function present<Found>(found: Found | undefined, section: string): Found {
  if (found === undefined) throw new Error(`no kind is called "${section}"`);
  return found;
}
