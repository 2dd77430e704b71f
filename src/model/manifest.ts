/** @module Defines a resolved manifest. */
import type { Address } from "./address.ts";
import type { Desired, Lifecycle } from "./desired.ts";
import type { Problem, SourceRange } from "./errors.ts";
import type { Disruption, KindSchema } from "./field-schema.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Live, Seen } from "./observed.ts";
import { perObject } from "./once.ts";
import { type ReferenceField, referenceFields } from "./templates.ts";

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

/** Source of the text of a secret. */
export type SecretSource =
  | { readonly env: string }
  | { readonly file: string }
  | { readonly command: readonly string[]; readonly variables?: readonly string[] };

/** Limits of a manifest whose author may not run programs, read this machine, or choose the service. */
export interface ManifestLimits {
  /** Folder that contains every file of the manifest, links followed. */
  readonly folder: string;
  /** Beginning of the names of the environment variables that it may read; absent: none. */
  readonly envPrefix?: string;
  /** Variables that it may not read though their names begin so. */
  readonly reserved: readonly string[];
  /** Programs that it may run by name, with the variables that each gets. */
  readonly commands: {
    readonly [name: string]: { readonly run: readonly string[]; readonly env: readonly string[] };
  };
}

/** The parts of a manifest that are read first: its name, its state and its service. */
export interface Header {
  readonly name: string;
  /** Tells it from manifests of the same name. */
  readonly environment?: string;
  /** Undefined if the manifest has no `service` section: it uses the local platform. */
  readonly service?: ServiceSection;
  /** The `state` section as written; its keys belong to the store. */
  readonly state: JsonObject;
}

/** One entry of `outputs`. */
export interface DeclaredOutput {
  /** May contain templates and sealed secrets. */
  readonly value: Json;
  readonly sensitive: boolean;
  readonly where: SourceRange;
}

/** One entry of `imports`. */
export interface Import {
  readonly address: Address;
  readonly id: string;
  readonly where: SourceRange;
}

/** One entry of `moved`. */
export interface Move {
  readonly from: Address;
  readonly to: Address;
  readonly where: SourceRange;
}

/** One entry of `removed`, or a block that is left out. */
export interface Removal {
  readonly address: Address;
  /** False: release the object and leave it running. */
  readonly destroy: boolean;
  readonly reason?: string;
  /** ISO date after which the entry is a warning. */
  readonly until?: string;
  /** Of a block whose `enabled` is false: its guards hold as those of a declared one. */
  readonly lifecycle?: Lifecycle;
  /** The undeclared block whose name is nearly that of this entry, which names nothing. */
  readonly near?: Address;
  readonly where: SourceRange;
}

/** A manifest that is resolved as far as possible without the service. */
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

/** Address of a bound resource -> its outputs. */
export type OutputTable = ReadonlyMap<Address, JsonObject>;

/** Makes the function that replaces the ids of bound resources by their names; an unknown id stays an id. It takes the outputs as they are at its first use. */
export function naming(outputs: OutputTable): (live: Live, schema: KindSchema) => Live {
  const namesFor = perObject(({ section, output }: ReferenceField) => {
    const found = [...outputs].filter(([address]) => address.startsWith(`${section}.`));
    // Of two with one id the first counts.
    return new Map(found.reverse().map(([at, values]) => [values[output], at.slice(section.length + 1)]));
  });
  return (live, schema) => {
    const named = referenceFields(schema).flatMap((field): [string, Seen][] => {
      const seen = live.spec[field.path];
      const name = seen && namesFor(field).get(seen.value);
      return seen === undefined || name === undefined ? [] : [[field.path, { ...seen, value: name }]];
    });
    return named.length === 0 ? live : { ...live, spec: { ...live.spec, ...Object.fromEntries(named) } };
  };
}
