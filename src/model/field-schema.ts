/** @module Defines the rows of the field table: JSON Schema with annotations. */
import type { Json } from "./json.ts";
import { perObject } from "./once.ts";

/** Effects of a change on the users of a running database, from none to the worst. */
export const disruptions = ["none", "restart", "downtime", "data-loss"] as const;
export type Disruption = (typeof disruptions)[number];

/** The part of a running database that shows a field: a parameter, a line of INFO, or the connection itself. */
export type ProbeRow =
  | {
      /** A parameter of the graph module: GRAPH.CONFIG GET. */
      readonly parameter: string;
      /** GRAPH.CONFIG SET changes it while the database runs. Default: it is read when the database starts. */
      readonly settable?: true;
      /** Path of the field that limits it in the engine, unless that is 0. */
      readonly atMost?: string;
      readonly reading?: ProbeReading;
    }
  | { readonly info: string; readonly reading?: ProbeReading }
  /** The password: a login proves it, WRONGPASS disproves it. */
  | { readonly connection: "login" }
  | { readonly connection: "tls" };

/**
 * The engine's reading of a declared value. `power-of-two`: rounded up, 128 at least. `rows`: no limit is -1. `size`: bytes.
 * `memory-label`: the bytes of a label. `switch`: only on and off are shown. `nodes`: replicas that are connected.
 */
export type ProbeReading = "power-of-two" | "rows" | "size" | "memory-label" | "switch" | "nodes";

/** The parameter of the graph module that a field is; undefined for other fields. */
export function parameterOf({ "x-probe": row }: FieldSchema): string | undefined {
  return row !== undefined && "parameter" in row ? row.parameter : undefined;
}

/** The path of the field that a line of INFO shows, in one reading; undefined if there is none. */
export function pathOfInfo(line: string, reading: ProbeReading, schema: KindSchema): string | undefined {
  const shown = [...fieldRows(schema)].find(
    ([, { "x-probe": row = {} }]) => "info" in row && row.info === line && row.reading === reading,
  );
  return shown?.[0];
}

/** The ways to carry data to an object with another value of a field. */
export interface Carried {
  readonly by: readonly ("copy" | "snapshot")[];
  /** The reason for them, or for none, in one sentence. */
  readonly reason: string;
}

/** One row of the field table: JSON Schema draft-07 and annotations, for validation, diff, bodies, the local platform and documents. */
export interface FieldSchema {
  readonly type?: "string" | "number" | "integer" | "boolean" | "object" | "array" | readonly string[];
  readonly description?: string;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly default?: Json;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly properties?: { readonly [name: string]: FieldSchema };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | FieldSchema;
  readonly items?: FieldSchema;
  readonly examples?: readonly Json[];
  /** Fixed after creation: a change needs a replacement. */
  readonly "x-create-only"?: boolean;
  /** Create-only fields of a kind that holds data: the ways that bring the data to an object with another value. */
  readonly "x-carried"?: Carried;
  /** Disruption of an in-place change. Default "none". */
  readonly "x-disruption"?: Disruption;
  /** Never printed, never stored; only a keyed fingerprint is remembered. */
  readonly "x-secret"?: boolean;
  /** Name on the wire in the default dialect. Default: the field's own name. */
  readonly "x-wire"?: string;
  /** Position in a request: the body, its requestParams, or a request of its own, which also works on a stopped database. */
  readonly "x-in"?: "body" | "requestParams" | "metadata";
  /** The part of the running database that shows the value. */
  readonly "x-probe"?: ProbeRow;
  /** Tiers that offer the field. Default: all. */
  readonly "x-tiers"?: readonly string[];
  /** Components that offer the field. Default: all that the tier has. */
  readonly "x-components"?: readonly string[];
  /** Comparison of two spellings of a value. Default: as typed, "25" equal to 25. */
  readonly "x-compare"?: "size" | "memory-label" | "acl";
  /** The value names a resource of this section; on the wire stands that resource's output. */
  readonly "x-reference"?: { readonly section: string; readonly output: string };
  /** The value is reached by operations, not by an update: `from>to` -> verb. */
  readonly "x-operations"?: { readonly [transition: string]: string };
  /** The display name: an object that shows the declared name may be the declared resource. */
  readonly "x-identity"?: boolean;
  /** A create cannot carry it: an update sets it as soon as the object exists. */
  readonly "x-after-create"?: boolean;
  /** While it is true the service refuses to delete the object. */
  readonly "x-keeps"?: boolean;
  /** Part of the path of the resource at the service, not one of its settings. */
  readonly "x-place"?: boolean;
}

/** The schema of a kind's spec: an object whose properties are the manifest's words. */
export interface KindSchema extends FieldSchema {
  readonly type: "object";
  readonly properties: { readonly [name: string]: FieldSchema };
}

export type Rows = ReadonlyMap<string, FieldSchema>;

/** Every field of a schema, without the groups that hold them; made once for each schema. */
export const fieldRows: (schema: FieldSchema) => Rows = perObject(
  ({ properties = {} }) => new Map(leafRows(properties, "")),
);

/** The row of a path, or of the map that it stands in; an empty row means a change in place that no client feels. */
export function rowAt(rows: Rows, path: string): FieldSchema {
  return rows.get(path) ?? rows.get(path.split(".", 1)[0] ?? "") ?? {};
}

/** True if the tier and the component of a spec offer a field. */
export function isOfferedBy(
  { "x-tiers": tiers, "x-components": components }: FieldSchema,
  { tier, component }: { readonly tier?: Json; readonly component?: Json },
): boolean {
  return tiers?.includes(String(tier)) !== false && components?.includes(String(component)) !== false;
}

/** True if a value can be set in the running object itself. */
export function isSettable({ "x-probe": probe }: FieldSchema): boolean {
  return probe !== undefined && "settable" in probe;
}

/** The path of the field that limits this one in the running object, unless that is 0. */
export function limitOf({ "x-probe": probe }: FieldSchema): string | undefined {
  return probe !== undefined && "atMost" in probe ? probe.atMost : undefined;
}

/** The fields that a field limits or is limited by in the running object. */
export function partnersOf(path: string, rows: Rows): readonly string[] {
  const limit = limitOf(rows.get(path) ?? {});
  return [...rows].flatMap(([other, row]) => (other === limit || limitOf(row) === path ? [other] : []));
}

/** The verbs of the field that operations change, by what they lead between: "running>stopped" -> "stop". Undefined if a kind has none. */
export function powerOf(schema: FieldSchema): FieldSchema["x-operations"] {
  return [...fieldRows(schema).values()].find((row) => row["x-operations"])?.["x-operations"];
}

/** The verbs that lead a field from one value to another, in their order; empty if there is no such way. */
export function verbsBetween(row: FieldSchema, from: string, to: string): readonly Leading[] {
  const open: (readonly Leading[])[] = [[]];
  const known = new Set([from]);
  for (let way = open.shift(); way !== undefined; way = open.shift()) {
    const at = way.at(-1)?.to ?? from;
    for (const [transition, verb] of Object.entries(row["x-operations"] ?? {})) {
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

export interface Leading {
  readonly verb: string;
  readonly from: string;
  readonly to: string;
}

/** Paths in the order of the table: a tier comes before the component that it has. */
export function inTableOrder(schema: KindSchema, paths: readonly string[]): readonly string[] {
  const order = [...fieldRows(schema).keys()];
  return paths.toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
}

function* leafRows(
  properties: { readonly [name: string]: FieldSchema },
  prefix: string,
): Generator<[string, FieldSchema]> {
  for (const [name, row] of Object.entries(properties)) {
    if (row.properties === undefined) yield [`${prefix}${name}`, row];
    else yield* leafRows(row.properties, `${prefix}${name}.`);
  }
}
