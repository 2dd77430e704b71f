import type { FieldSchema } from "../model/field-schema.ts";

/** A published schema: what it is, and the rows that the reader follows. */
export interface StateSchema extends FieldSchema {
  readonly $schema: string;
  readonly title: string;
}

const text: FieldSchema = { type: "string", minLength: 1 };
const time: FieldSchema = { type: "string", minLength: 1, description: "ISO 8601." };
const flag: FieldSchema = { type: "boolean" };
const anyObject: FieldSchema = { type: "object" };
const texts: FieldSchema = { type: "array", items: text };
const onDelete: FieldSchema = { enum: ["delete", "retain", "backup"] };
const values: FieldSchema = {
  type: "object",
  additionalProperties: {},
  description: "Last applied values, dotted path to value; secrets stand as fingerprints.",
};

function record(
  properties: { readonly [name: string]: FieldSchema },
  optional: readonly string[] = [],
): FieldSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required, additionalProperties: false };
}

const converging = record({ operation: text, since: time, record: values, digest: text }, ["digest"]);

const bound = record(
  {
    kind: text,
    id: text,
    place: anyObject,
    recorded: values,
    protect: flag,
    onDelete,
    refs: texts,
    createdAt: time,
    converging,
  },
  ["converging"],
);

const intent = record(
  {
    round: text,
    digest: text,
    refused: { const: true },
    marked: { const: true },
    startedAt: time,
    recorded: values,
    protect: flag,
    onDelete,
    refs: texts,
  },
  ["refused", "marked"],
);

const round = record({ kind: text, place: anyObject, classKey: { type: "string" }, before: texts });

const names: FieldSchema = { type: "object", additionalProperties: { type: "string" } };

/** The identity of a service, as states and saved plans hold it. */
export const serviceSchema: FieldSchema = {
  ...record(
    {
      platform: { ...text, description: "URL of the platform host, or local:ID." },
      users: { ...text, description: "URL of the users host, where it is another one." },
      subscription: text,
      subscriptions: { ...names, description: "By tier, where each tier has one of its own." },
      keys: names,
      locations: {
        ...names,
        description: "Digests of what in the profile decides where objects are found.",
      },
    },
    ["users", "subscription", "subscriptions"],
  ),
  description: "The service that the ids belong to.",
};

/** The state document, JSON Schema draft-07. The reader checks a state against these very rows. */
export const stateSchema: StateSchema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "graphform state, version 2",
  ...record(
    {
      version: { const: 2 },
      name: { ...text, description: "The manifest's name." },
      lineage: { ...text, description: "Random identity of this state's history." },
      serial: { type: "integer", minimum: 1, description: "Grows with every write." },
      key: { type: "string", pattern: "^[0-9a-f]{64}$", description: "Key of the secrets' fingerprints." },
      savedAt: time,
      service: serviceSchema,
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
      outputs: { type: "object", additionalProperties: record({ value: {}, sensitive: flag }) },
    },
    ["service"],
  ),
};
