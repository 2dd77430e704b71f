/** @module Defines a resource as the manifest declares it. */
import type { Address } from "./address.ts";
import type { SourceRange } from "./errors.ts";
import type { Spec } from "./spec.ts";

/** The rules of a replacement that keeps the data. */
export interface MigrationRules {
  /** Times in which the cutover may happen without being asked for: `sat,sun 02:00-04:00`, in UTC. */
  readonly windows: readonly string[];
  /** Longest read-only time in ms that needs no second look at the rehearsal. */
  readonly maxReadOnly?: number;
  /** Ms for which the old object is kept, stopped. */
  readonly hold: number;
  /** A command that runs after the switch: its words, without a shell. */
  readonly hook?: readonly string[];
}

/** The `lifecycle` of a resource: protection, replacement, deletion, dependencies. */
export interface Lifecycle {
  /** Refuses deletion and replacement. Undefined: the kind's own default. */
  readonly protect?: boolean;
  readonly onReplace: "refuse" | "recreate" | "migrate";
  readonly migration?: MigrationRules;
  readonly onDelete: "delete" | "retain" | "backup";
  /** Paths of the spec that are left alone, for example `config.description`. */
  readonly ignoreChanges: readonly string[];
  readonly dependsOn: readonly Address[];
}

/** Longest waits, in ms. */
export interface Timeouts {
  readonly create?: number;
  readonly update?: number;
  readonly delete?: number;
}

export interface Desired {
  readonly address: Address;
  /** Section of the manifest, which is also the kind's name. */
  readonly kind: string;
  /** Secrets sealed, references to outputs kept. */
  readonly spec: Spec;
  /** Everything that must exist first: references, `x-reference` fields, dependsOn. */
  readonly refs: readonly Address[];
  readonly where: () => SourceRange;
  readonly lifecycle: Lifecycle;
  readonly timeouts: Timeouts;
  /** Id of an existing object to bind: from `imports`, or a kind whose spec carries its id. */
  readonly importId?: string;
}

/** True if an entry of `ignoreChanges` names a path, or a map that it stands in. */
export function isIgnored(path: string, ignored: Lifecycle["ignoreChanges"]): boolean {
  return ignored.some((entry) => path === entry || path.startsWith(`${entry}.`));
}
