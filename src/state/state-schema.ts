/** @module Defines the published JSON Schema of a state, and the schemas of the events in its log and of a saved plan. */
import { disruptions, type FieldSchema } from "../model/field-schema.ts";
import type { StateEvent } from "../model/state-event.ts";
import {
  bound,
  converging,
  intent,
  manifestIdentity,
  ms,
  outputs,
  record,
  round,
  serviceSchema,
  text,
  texts,
  time,
} from "./state-rows.ts";

/** A published schema: what it is, and the rows that the reader follows. */
export interface StateSchema extends FieldSchema {
  readonly $schema: string;
  readonly title: string;
}

/** The state document, JSON Schema draft-07. The reader checks a state against these very rows. */
export const stateSchema: StateSchema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "graphform state, versions 2 and 3",
  ...record(
    {
      version: { enum: [2, 3], description: "2: whole. 3: what happened since is in the log beside it." },
      name: { ...text, description: "The manifest's name." },
      lineage: { ...text, description: "Random identity of this state's history." },
      serial: { type: "integer", minimum: 1, description: "Grows with every write." },
      key: { type: "string", pattern: "^[0-9a-f]{64}$", description: "Key of the secrets' fingerprints." },
      savedAt: time,
      service: serviceSchema,
      manifest: manifestIdentity,
      resources: {
        type: "object",
        additionalProperties: bound,
        description: "Address to what it is bound to.",
      },
      intents: {
        type: "object",
        additionalProperties: intent,
        description: "Creates that were announced and not yet acknowledged.",
      },
      rounds: {
        type: "object",
        additionalProperties: round,
        description: "Creates that were in flight together: what existed before them.",
      },
      appliedPlans: { ...texts, description: "Fingerprints of plans that were applied." },
      outputs,
      durations: {
        type: "object",
        additionalProperties: ms,
        description: "Ms that operations took, smoothed, by kind and operation.",
      },
    },
    ["service", "manifest", "durations"],
  ),
};

const created = { address: text, id: text, createdAt: time, converging, unconfirmed: texts };

/** The schema of each event. */
export const eventSchemas: { readonly [type in StateEvent["type"]]: FieldSchema } = {
  "service-recorded": event({ service: serviceSchema, manifest: manifestIdentity }, ["manifest"]),
  "plan-applied": event(
    { fingerprint: text, shownCreatedAt: { type: "object", additionalProperties: text } },
    ["shownCreatedAt"],
  ),
  "create-announced": event({ address: text, intent, listed: round }, ["listed"]),
  "create-refused": event({ address: text, at: time, sentBefore: time }, ["at", "sentBefore"]),
  "create-acknowledged": event(created, ["unconfirmed"]),
  "creates-resolved": event({
    found: { type: "array", items: record(created, ["unconfirmed"]) },
    absent: texts,
  }),
  "create-abandoned": event({ address: text }),
  bound: event({ address: text, bound }),
  // Each an address and what it is bound to; the document is checked once they are in it.
  "bound-together": event({ bindings: { type: "array", items: { type: "array" } } }),
  "update-announced": event({ address: text, paths: texts, at: time }),
  "operation-accepted": event({ address: text, converging }),
  "operation-settled": event(
    {
      address: text,
      record: { type: "object" },
      at: time,
      shownCreatedAt: text,
      ineffective: texts,
      took: ms,
    },
    ["record", "at", "shownCreatedAt", "ineffective", "took"],
  ),
  healed: event({ address: text, paths: texts, at: time }),
  "another-seen": event({ address: text, createdAt: text }),
  "operation-failed": event({ address: text }),
  released: event({ address: text, took: ms }, ["took"]),
  "released-together": event({ addresses: texts }),
  moved: event(
    { from: text, to: text, renamed: { type: "object", additionalProperties: { type: "object" } } },
    ["renamed"],
  ),
  "outputs-recorded": event({ outputs }),
};

function event(
  properties: { readonly [name: string]: FieldSchema },
  optional: readonly string[] = [],
): FieldSchema {
  return record({ type: text, ...properties }, optional);
}

const list: FieldSchema = { type: "array", items: { type: "object" } };

/** A saved plan without its checksum, as far as its reader depends on its form. */
export const savedPlanSchema: FieldSchema = {
  type: "object",
  required: ["plan", "manifest", "variables", "withheld"],
  properties: {
    plan: {
      type: "object",
      required: [
        "version",
        "name",
        "lineage",
        "serial",
        "changes",
        "steps",
        "outputs",
        "census",
        "forecast",
        "fingerprint",
      ],
      properties: {
        version: { const: 1 },
        name: text,
        lineage: {},
        serial: { type: "integer" },
        changes: list,
        steps: list,
        outputs: {},
        census: {},
        forecast: {},
        fingerprint: text,
      },
    },
    destroying: { type: "boolean" },
    service: serviceSchema,
    manifest: {
      type: "array",
      items: { type: "object", required: ["path", "sha256"], properties: { path: text, sha256: text } },
    },
    variables: { type: "object" },
    withheld: texts,
    commit: {
      type: "object",
      required: ["repository", "ref", "commit"],
      properties: { repository: text, ref: text, commit: text },
    },
    choices: {
      type: "object",
      required: ["target", "exclude", "replace", "allowDestroy"],
      properties: {
        ...{ target: texts, exclude: texts, replace: texts, allowDestroy: texts },
        ...{ maxDisruption: { enum: [...disruptions] }, probe: { type: "boolean" } },
      },
    },
  },
};
