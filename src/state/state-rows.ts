/** @module The rows that states, their logs and saved plans are checked against. */
import type { FieldSchema } from "../model/field-schema.ts";

export const text: FieldSchema = { type: "string", minLength: 1 };
export const time: FieldSchema = { type: "string", minLength: 1, description: "ISO 8601." };
export const ms: FieldSchema = { type: "integer", minimum: 0 };
const flag: FieldSchema = { type: "boolean" };
const anyObject: FieldSchema = { type: "object" };
export const texts: FieldSchema = { type: "array", items: text };
const onDelete: FieldSchema = { enum: ["delete", "retain", "backup"] };
const values: FieldSchema = {
  type: "object",
  additionalProperties: {},
  description: "Last applied values, dotted path to value; secrets stand as fingerprints.",
};

/** An object with these members and no others. */
export function record(
  properties: { readonly [name: string]: FieldSchema },
  optional: readonly string[] = [],
): FieldSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required, additionalProperties: false };
}

export const converging: FieldSchema = record(
  { operation: text, since: time, record: values, digest: text },
  ["digest"],
);

export const bound: FieldSchema = record(
  {
    kind: text,
    id: text,
    place: anyObject,
    recorded: values,
    protect: flag,
    onDelete,
    refs: texts,
    createdAt: time,
    shownCreatedAt: {
      ...text,
      description: "The creation time that the service showed first, as it writes it.",
    },
    otherCreatedAt: {
      ...text,
      description: "Another creation time that was shown under the id since: another object is there.",
    },
    appliedAt: time,
    seenRight: {
      type: "object",
      additionalProperties: time,
      description:
        "Dotted path to the time at which it was last seen right, where that is another than appliedAt.",
    },
    ineffective: { ...texts, description: "Applied paths that the running database showed otherwise." },
    converging,
  },
  ["shownCreatedAt", "otherCreatedAt", "appliedAt", "seenRight", "ineffective", "converging"],
);

export const intent: FieldSchema = record(
  {
    round: text,
    digest: text,
    refused: { const: true },
    acknowledged: {
      ...text,
      description: "The id that the service answered with, if nothing of that id was shown.",
    },
    refusedAt: time,
    sentBefore: { ...time, description: "The service's own time when it refused the create." },
    marked: { const: true },
    startedAt: time,
    sentAfter: { ...time, description: "The service's own time before the create was announced." },
    recorded: values,
    protect: flag,
    onDelete,
    refs: texts,
  },
  ["refused", "acknowledged", "refusedAt", "sentBefore", "marked", "sentAfter"],
);

export const round: FieldSchema = record({
  kind: text,
  place: anyObject,
  classKey: { type: "string" },
  before: texts,
});

export const outputs: FieldSchema = {
  type: "object",
  additionalProperties: record({ value: {}, sensitive: flag }),
};

const names: FieldSchema = { type: "object", additionalProperties: { type: "string" } };

/** The identity of a service, as states and saved plans hold it. */
export const serviceSchema: FieldSchema = {
  ...record(
    {
      platform: { ...text, description: "URL of the platform host, or local:ID." },
      users: { ...text, description: "URL of the users host, where it is another one." },
      subscription: text,
      subscriptions: { ...names, description: "By tier, where each tier has one of its own." },
      accountSubscriptions: {
        ...texts,
        description: "Those that every account which used the state can see, where requests name none.",
      },
      keys: names,
      locations: {
        ...names,
        description: "Digests of what in the profile decides where objects are found.",
      },
    },
    ["users", "subscription", "subscriptions", "accountSubscriptions"],
  ),
  description: "The service that the ids belong to.",
};

/** The identity of a manifest, as states hold it. */
export const manifestIdentity: FieldSchema = {
  ...record(
    {
      environment: text,
      paths: { ...texts, description: "Its files within their Git repository." },
    },
    ["environment", "paths"],
  ),
  description: "The manifest that the state belongs to, as far as it is known.",
};
