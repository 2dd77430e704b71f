import type { Json } from "./json.ts";

/** How far a change is felt by those who use the running database; worse ones later in the list. */
export type Disruption = "none" | "restart" | "downtime" | "data-loss";

export const disruptions: readonly Disruption[] = ["none", "restart", "downtime", "data-loss"];

/**
 * One row of the field table: JSON Schema draft-07, and the annotations that everything else reads.
 *
 * A row states its bounds once; validation, diff, update bodies, the local platform and the documentation follow it.
 */
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
  /** Fixed after creation: a change needs a replacement (specification 2.2). */
  readonly "x-create-only"?: boolean;
  /** What an in-place change does to the running database. Default "none". */
  readonly "x-disruption"?: Disruption;
  /** Never printed, never stored; only a keyed fingerprint is remembered. */
  readonly "x-secret"?: boolean;
  /** Name on the wire in the default dialect. Default: the field's own name. */
  readonly "x-wire"?: string;
  /**
   * Where it stands in a request: top level of the body, inside requestParams, or in a request of its own that
   * needs nothing of the database: a stopped one is not started for it.
   */
  readonly "x-in"?: "body" | "requestParams" | "metadata";
  /** The database parameter (GRAPH.CONFIG GET) that shows the value. */
  readonly "x-parameter"?: string;
  /** Tiers that offer the field. Default: all. */
  readonly "x-tiers"?: readonly string[];
  /** Components that offer the field. Default: all that the tier has. */
  readonly "x-components"?: readonly string[];
  /** How two spellings of one value are told equal. Default: as typed, "25" equal to 25. */
  readonly "x-compare"?: "size" | "memory-label" | "acl";
  /** The value names a resource of this section; on the wire stands that resource's output. */
  readonly "x-reference"?: { readonly section: string; readonly output: string };
  /** The value is reached by operations, not by an update: `from>to` -> verb. */
  readonly "x-operations"?: { readonly [transition: string]: string };
  /** The name that people know the thing by: an object that shows the declared one may be it. */
  readonly "x-identity"?: boolean;
  /** A create cannot carry it: an update sets it as soon as the object exists. */
  readonly "x-after-create"?: boolean;
  /** While it is true the service refuses to delete the object. */
  readonly "x-keeps"?: boolean;
  /** Where a resource is found, not what it is set to: part of its address at the service. */
  readonly "x-place"?: boolean;
}

/** The schema of a kind's spec: an object whose properties are the manifest's words. */
export interface KindSchema extends FieldSchema {
  readonly type: "object";
  readonly properties: { readonly [name: string]: FieldSchema };
}
