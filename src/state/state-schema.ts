/** @module Defines the published JSON Schema of a state. */
import type { FieldSchema } from "../model/field-schema.ts";
import {
  bound,
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
