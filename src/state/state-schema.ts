/** @module Defines the published JSON Schema of a state, and the schemas of the events in its log and of a saved plan. */
import { disruptions, type FieldSchema } from "../model/field-schema.ts";
import { defined } from "../model/json.ts";
import { migrationPhases } from "../model/migration.ts";
import type { Bound, Migration } from "../model/state.ts";
import type { StateEvent } from "../model/state-event.ts";

const text: FieldSchema = { type: "string", minLength: 1 };
const time: FieldSchema = { type: "string", minLength: 1, description: "ISO 8601." };
const ms: FieldSchema = { type: "integer", minimum: 0 };
const flag: FieldSchema = { type: "boolean" };
const anyObject: FieldSchema = { type: "object" };
export const texts: FieldSchema = { type: "array", items: text };
const onDelete: FieldSchema = everyOf<Bound["onDelete"]>({ delete: true, retain: true, backup: true });
const values: FieldSchema = {
  type: "object",
  additionalProperties: {},
  description: "Last applied values, dotted path to value; secrets stand as fingerprints.",
};

/** The words of a union. The checker refuses a list that lacks one, or has one more. */
function everyOf<Word extends string>(words: { readonly [word in Word]: true }): FieldSchema {
  return { enum: Object.keys(words) };
}

/** An object with these members and no others. A name that ends in `?` may be missing. */
function closedObject(members: { readonly [name: string]: FieldSchema }): FieldSchema {
  const names = Object.keys(members);
  const properties = Object.fromEntries(names.map((name) => [name.replace("?", ""), members[name] ?? {}]));
  const required = names.filter((name) => !name.endsWith("?"));
  return { type: "object", properties, required, additionalProperties: false };
}

/** A map of any names to values of this form. */
function mapOf(additionalProperties: FieldSchema, description?: string): FieldSchema {
  return { type: "object", additionalProperties, ...defined({ description }) };
}

export const intent: FieldSchema = closedObject({
  ...{ round: text, digest: text, "refused?": { const: true } },
  "acknowledged?": {
    ...text,
    description: "The id that the service answered with, if nothing of that id was shown.",
  },
  "lockedOut?": { ...texts, description: "Ids that refused the declared login." },
  "refusedAt?": time,
  "sentBefore?": {
    ...time,
    description: "The service's own time of its refusal, or after the answer was lost.",
  },
  ...{ "marked?": { const: true }, startedAt: time },
  "sentAfter?": { ...time, description: "The service's own time before the create was announced." },
  ...{ recorded: values, protect: flag, onDelete, refs: texts },
});

export const round: FieldSchema = closedObject({
  ...{ kind: text, place: anyObject, classKey: { type: "string" }, before: texts },
});

export const converging: FieldSchema = closedObject({
  ...{ operation: text, since: time, record: values, "digest?": text },
  "byTime?": closedObject({ intent, listed: round }),
});

export const bound: FieldSchema = closedObject({
  ...{ kind: text, id: text, place: anyObject, recorded: values, protect: flag, onDelete, refs: texts },
  createdAt: time,
  "shownCreatedAt?": {
    ...text,
    description: "The creation time that the service showed first, as it writes it.",
  },
  "otherCreatedAt?": {
    ...text,
    description: "Another creation time that was shown under the id since: another object is there.",
  },
  "appliedAt?": time,
  "seenRight?": mapOf(
    time,
    "Dotted path to the time at which it was last seen right, if that is another than appliedAt.",
  ),
  "ineffective?": { ...texts, description: "Applied paths that the running database showed otherwise." },
  "converging?": converging,
});

const amount: FieldSchema = { type: "number", minimum: 0 };

export const migration: FieldSchema = {
  ...closedObject({
    ...{ phase: { enum: [...migrationPhases] }, since: time },
    "rehearsed?": closedObject({
      ...{ next: text, at: time, bytes: amount, largest: amount },
      ...{ copy: amount, verify: amount, stall: amount },
    }),
    "cap?": { type: "integer", description: "QUERY_MEM_CAPACITY of the live database, to be put back." },
    ...{ "pausedUntil?": time, "heldUntil?": time, "former?": mapOf(bound) },
    "hook?": everyOf<NonNullable<Migration["hook"]>>({ due: true, begun: true, "put-off": true }),
    "mark?": closedObject({ runId: text, writes: amount, "libraries?": text }),
  }),
  description: "A database whose data is being moved, or was moved: its phase, and what a later run needs.",
};

export const outputs: FieldSchema = mapOf(closedObject({ value: {}, sensitive: flag }));

const names: FieldSchema = mapOf({ type: "string" });

/** The identity of a service, as states and saved plans hold it. */
export const serviceSchema: FieldSchema = {
  ...closedObject({
    platform: { ...text, description: "URL of the platform host, or local:ID." },
    "users?": { ...text, description: "URL of the users host, if it is another one." },
    "subscription?": text,
    "subscriptions?": { ...names, description: "By tier, if each tier has one of its own." },
    "accountSubscriptions?": {
      ...texts,
      description: "Those that every account which used the state can see, if requests name none.",
    },
    keys: names,
    locations: { ...names, description: "Digests of what in the profile decides where objects are found." },
  }),
  description: "The service that the ids belong to.",
};

/** The identity of a manifest, as states hold it. */
const manifestIdentity: FieldSchema = {
  ...closedObject({
    "environment?": text,
    "paths?": { ...texts, description: "Its files within their Git repository." },
  }),
  description: "The manifest that the state belongs to, as far as it is known.",
};

/** The state document, JSON Schema draft-07. The reader checks a state against these very rows. */
export const stateSchema: FieldSchema & { readonly $schema: string; readonly title: string } = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "graphform state, versions 2 and 3",
  ...closedObject({
    version: { enum: [2, 3], description: "2: whole. 3: what happened since is in the log beside it." },
    name: { ...text, description: "The manifest's name." },
    lineage: { ...text, description: "Random identity of this state's history." },
    serial: { type: "integer", minimum: 1, description: "Grows with every write." },
    key: { type: "string", pattern: "^[0-9a-f]{64}$", description: "Key of the secrets' fingerprints." },
    ...{ savedAt: time, "service?": serviceSchema, "manifest?": manifestIdentity },
    resources: mapOf(bound, "Address to what it is bound to."),
    intents: mapOf(intent, "Creates that were announced and not yet acknowledged."),
    rounds: mapOf(round, "Creates that were in flight together: what existed before them."),
    appliedPlans: { ...texts, description: "Fingerprints of plans that were applied." },
    outputs,
    "durations?": mapOf(ms, "Ms that operations took, smoothed, by kind and operation."),
    "migrations?": mapOf(migration, "Address to the migration of its data."),
  }),
};

const created = { address: text, id: text, createdAt: time, converging, "unconfirmed?": texts };
const bindings: FieldSchema = { type: "array", items: { type: "array" } };

export const eventSchemas: { readonly [type in StateEvent["type"]]: FieldSchema } = {
  "service-recorded": event({ service: serviceSchema, "manifest?": manifestIdentity }),
  "plan-applied": event({ fingerprint: text, "shownCreatedAt?": mapOf(text) }),
  "create-announced": event({ address: text, intent, "listed?": round, "released?": { const: true } }),
  "create-refused": event({ address: text, "at?": time, "sentBefore?": time }),
  "creates-lost": event({ addresses: texts, sentBefore: time }),
  "create-acknowledged": event(created),
  "creates-resolved": event({ found: { type: "array", items: closedObject(created) }, absent: texts }),
  "create-abandoned": event({ address: text }),
  bound: event({ address: text, bound }),
  // Each is an address with its binding; the document is checked once they are in it.
  "bound-together": event({ bindings }),
  "update-announced": event({ address: text, paths: texts, at: time }),
  "operation-accepted": event({ address: text, converging }),
  "operation-settled": event({
    ...{ address: text, "record?": anyObject, "at?": time },
    ...{ "shownCreatedAt?": text, "ineffective?": texts, "took?": ms },
  }),
  healed: event({ address: text, paths: texts, at: time }),
  "another-seen": event({ address: text, createdAt: text }),
  "operation-failed": event({ address: text }),
  released: event({ address: text, "took?": ms }),
  "released-together": event({ addresses: texts }),
  moved: event({ from: text, to: text, "renamed?": mapOf(anyObject) }),
  migration: event({ address: text, "migration?": migration }),
  switched: event({ address: text, migration, bindings, released: texts, "outputs?": outputs }),
  "outputs-recorded": event({ outputs }),
};

function event(members: { readonly [name: string]: FieldSchema }): FieldSchema {
  return closedObject({ type: text, ...members });
}

const list: FieldSchema = { type: "array", items: { type: "object" } };

function open(members: { readonly [name: string]: FieldSchema }): FieldSchema {
  return { ...closedObject(members), additionalProperties: {} };
}

/** A saved plan without its checksum, as far as its reader depends on its form. */
export const savedPlanSchema: FieldSchema = open({
  plan: open({
    version: { const: 1 },
    ...{ name: text, lineage: {}, serial: { type: "integer" }, changes: list, steps: list },
    ...{ outputs: {}, census: {}, forecast: {}, fingerprint: text },
  }),
  ...{ "destroying?": flag, "service?": serviceSchema },
  manifest: { type: "array", items: open({ path: text, sha256: text }) },
  ...{ variables: anyObject, withheld: texts },
  "commit?": open({ repository: text, ref: text, commit: text }),
  "choices?": open({
    ...{ target: texts, exclude: texts, replace: texts, allowDestroy: texts },
    ...{ "maxDisruption?": { enum: [...disruptions] }, "probe?": flag },
  }),
});
