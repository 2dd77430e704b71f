/** @module Reads each field of a kind as the traits that planning asks for. */
import { type Disruption, type FieldSchema, fieldRows, type KindSchema } from "./field-schema.ts";
import type { Json } from "./json.ts";
import { perObject } from "./per-object.ts";

/** The row of one field in the field table, as planning reads it. */
export interface Trait {
  readonly path: string;
  readonly type: FieldSchema["type"];
  readonly createOnly: boolean;
  readonly disruption: Disruption;
  readonly secret: boolean;
  readonly compare: FieldSchema["x-compare"];
  readonly operations: { readonly [transition: string]: string } | undefined;
  readonly reference: { readonly section: string; readonly output: string } | undefined;
  readonly default: Json | undefined;
  /** The name that people know it by. */
  readonly identity: boolean;
  /** Set by an update once the object exists. */
  readonly afterCreate: boolean;
  /** Set by a request that needs nothing of the database. */
  readonly metadata: boolean;
  /** It can be set in the running object itself. */
  readonly settable: boolean;
  /** The field that is its limit in the running object, if that is not 0. */
  readonly atMost: string | undefined;
  /** While it is true the service refuses to delete the object. */
  readonly keeps: boolean;
}

export type Traits = ReadonlyMap<string, Trait>;

/** The traits of every field of a kind, by dotted path; worked out once for each schema. */
export const traitsOf: (schema: KindSchema) => Traits = perObject(
  (schema) => new Map([...fieldRows(schema)].map(([path, row]) => [path, trait(path, row)])),
);

/** The fields that a field limits or is limited by in the running object. */
export function partnersOf(path: string, traits: Traits): readonly Trait[] {
  const limit = traits.get(path)?.atMost;
  return [...traits.values()].filter((trait) => trait.path === limit || trait.atMost === path);
}

/** The verbs that lead a field from one value to another, in their order; empty if none do. */
export function verbsBetween(trait: Trait, from: string, to: string): readonly Leading[] {
  const open: (readonly Leading[])[] = [[]];
  const known = new Set([from]);
  for (let way = open.shift(); way !== undefined; way = open.shift()) {
    const at = way.at(-1)?.to ?? from;
    for (const [transition, verb] of Object.entries(trait.operations ?? {})) {
      const [start, end = ""] = transition.split(">");
      if (start !== at || known.has(end)) continue;
      const longer = [...way, { verb, from: at, to: end }];
      if (end === to) return longer;
      known.add(end);
      open.push(longer);
    }
  }
  return [];
}

/** One verb, and the values that it leads between. */
export interface Leading {
  readonly verb: string;
  readonly from: string;
  readonly to: string;
}

/** The trait of a path; without a row of its own it has that of the map it stands in, or is changed in place, without effect on clients. */
export function traitAt(traits: Traits, path: string): Trait {
  const known = traits.get(path);
  if (known !== undefined) return known;
  const above = traits.get(path.split(".", 1)[0] ?? "");
  return above === undefined ? trait(path, {}) : { ...above, path };
}

function trait(path: string, row: FieldSchema): Trait {
  return {
    path,
    type: row.type,
    createOnly: row["x-create-only"] ?? false,
    disruption: row["x-disruption"] ?? "none",
    secret: row["x-secret"] ?? false,
    compare: row["x-compare"],
    operations: row["x-operations"],
    reference: row["x-reference"],
    default: row.default,
    identity: row["x-identity"] ?? false,
    afterCreate: row["x-after-create"] ?? false,
    metadata: row["x-in"] === "metadata",
    keeps: row["x-keeps"] ?? false,
    settable: row["x-probe"] !== undefined && "settable" in row["x-probe"],
    atMost: row["x-probe"] !== undefined && "atMost" in row["x-probe"] ? row["x-probe"].atMost : undefined,
  };
}
