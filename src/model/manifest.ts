import type { Address } from "./address.ts";
import type { Desired } from "./desired.ts";
import type { Disruption } from "./field-schema.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Problem, SourceRange } from "./problem.ts";

/** The `service` section; what is absent comes from options, the environment or the local platform. */
export interface ServiceSection {
  readonly profile?: string;
  readonly platformUrl?: string;
  readonly usersUrl?: string;
  readonly subscriptionId?: string;
  /** By tier; these win over `subscriptionId`. */
  readonly subscriptions?: { readonly [tier: string]: string };
}

/** The `guards` section: thresholds of a plan. */
export interface Guards {
  readonly maxDeletes?: number;
  readonly maxChangePercent?: number;
  readonly maxDisruption?: Disruption;
}

/** Where a secret's text is to be had. */
export type SecretSource =
  | { readonly env: string }
  | { readonly file: string }
  | { readonly command: readonly string[] };

/** What must be known before anything is resolved: whose state, which service. */
export interface Header {
  readonly name: string;
  /** Undefined where the manifest has no `service` section: the local platform is meant. */
  readonly service?: ServiceSection;
  /** The `state` section as written; its keys belong to the store. */
  readonly state: JsonObject;
}

export interface DeclaredOutput {
  /** May hold templates and sealed secrets. */
  readonly value: Json;
  readonly sensitive: boolean;
  readonly where: SourceRange;
}

export interface Import {
  readonly address: Address;
  readonly id: string;
  readonly where: SourceRange;
}

export interface Move {
  readonly from: Address;
  readonly to: Address;
  readonly where: SourceRange;
}

export interface Removal {
  readonly address: Address;
  /** False: let go of it and leave it running. */
  readonly destroy: boolean;
  readonly reason?: string;
  /** ISO date after which the entry is a warning: it was to be gone by then. */
  readonly until?: string;
  readonly where: SourceRange;
}

/** A manifest with everything resolved that can be without the service. */
export interface Manifest extends Header {
  readonly desired: readonly Desired[];
  readonly outputs: { readonly [name: string]: DeclaredOutput };
  readonly imports: readonly Import[];
  readonly moved: readonly Move[];
  readonly removed: readonly Removal[];
  readonly guards: Guards;
  /** Warnings; errors never get this far. */
  readonly warnings: readonly Problem[];
}
