import { disruptions } from "../src/model/field-schema.ts";
import type { JsonObject } from "../src/model/json.ts";
import {
  actions,
  effects,
  likenesses,
  operations,
  outputActions,
  phases,
  sources,
} from "./document-words.ts";
import { count, definition, draft, flag, list, mapOf, record, shared, text, texts } from "./schema-parts.ts";

const inShape = "true at each such place, in the shape of the value.";
const side: JsonObject = {
  description: "Object, or null if there is none on this side. A secret is (sensitive).",
  type: ["object", "null"],
};
const marks: JsonObject = { description: inShape, type: ["object", "boolean"] };

/** The combinations of actions that Terraform's tools know. */
const terraformActions: JsonObject = {
  enum: [
    ["no-op"],
    ["create"],
    ["update"],
    ["delete"],
    ["delete", "create"],
    ["create", "delete"],
    ["forget"],
  ],
};

const sides = {
  actions: terraformActions,
  ...{ before: side, after: side, after_unknown: marks, before_sensitive: marks, after_sensitive: marks },
};

const named = {
  ...{
    address: text,
    mode: { const: "managed" },
    type: { type: "string", pattern: "^graphform_" },
    name: text,
  },
};
const identity = {
  ...named,
  "index?": { ...text, description: "Key of forEach." },
  provider_name: { const: "graphform" },
};

const resourceChange = record({
  ...identity,
  "previous_address?": { ...text, description: "Present after a move." },
  "action_reason?": {
    enum: ["replace_because_cannot_update", "replace_by_request", "delete_because_no_resource_config"],
  },
  change: record({
    ...sides,
    replace_paths: list({ type: "array", items: { type: ["string", "integer"] }, minItems: 1 }),
    "importing?": record({ id: text }),
  }),
});

const outputChange = record({
  actions: { enum: outputActions.map((action) => [action]) },
  before: true,
  "after?": { description: "Absent if it is not known before apply." },
  ...{ after_unknown: flag, before_sensitive: flag, after_sensitive: flag },
});

const values = record({
  outputs: mapOf(definition("outputValue")),
  root_module: record({ resources: list(definition("resourceValues")) }),
});

const outputValue = record({
  sensitive: flag,
  "value?": { description: "Absent if it is known only after apply. A secret is (sensitive)." },
});

const resourceValues = record({
  ...identity,
  values: {
    type: "object",
    description: "Without what is known only after apply. A secret is (sensitive).",
  },
  sensitive_values: { type: "object", description: "true at each such place, in the shape of the values." },
});

const declaredResource = record({
  ...named,
  expressions: {
    type: "object",
    description:
      "constant_value of each field, of a resource that refers to no other one. Secrets are left out.",
  },
  "for_each_expression?": record({}, "Present if forEach makes the resources."),
  "depends_on?": { ...texts, description: "Addresses that the manifest refers to here." },
});

const login = { ...flag, description: "True for the login of a user, false for a database." };

const census = record({
  ...{ declared: count, checked: count, skipped: count, unmanaged: count },
  fields: record(Object.fromEntries(sources.map((source) => [source, count]))),
  "probed?": { ...count, description: "Running databases that were asked; absent if none could be." },
  "databases?": record(
    { asked: count, all: count },
    "Running databases that were asked, of all that are declared and exist.",
  ),
  "logins?": record({ asked: count, all: count }, "Logins of users that were tried, of all."),
  "access_rules?": record(
    { not_checked_in_database: count, reason: text },
    "Users whose access rules were compared with what the service keeps, and not in the database.",
  ),
  "not_probed?": list(
    record({
      ...{ address: text, "login?": login, reason: text, "way_out?": text },
      "failed?": {
        ...flag,
        description: "True if it did not answer all; false if there was a reason not to ask.",
      },
    }),
  ),
  "refused_logins?": {
    ...list(record({ address: text, login, reason: text, "way_out?": text })),
    description:
      "Databases and users whose declared password was tried and refused. Absent if there are none.",
  },
  "engines?": mapOf({ type: "integer", minimum: 1 }, "Version of the engine to the number of databases."),
  "partial_lists?": { ...texts, description: "Lists of which the service shows a part only." },
});

const made = record({
  ...{ name: text, lineage: text, serial: count },
  "service?": {
    type: "object",
    description:
      "The service that the plan was made for: its hosts, subscriptions and fixed path parameters.",
  },
  fingerprint: text,
  summary: record({
    ...{
      add: count,
      change: count,
      destroy: count,
      blocked: count,
      adopt: count,
      move: count,
      forget: count,
    },
    "gone?": count,
  }),
  census,
  forecast: record({ restarts: count, replacements: count, seconds: count }),
  changes: mapOf(definition("changeExtras"), "Address to what Terraform's shape has no place for."),
  steps: list(definition("step")),
});

const changeExtras = record({
  action: { enum: actions },
  reason: { ...text, description: "One line for people." },
  disruption: { enum: disruptions },
  blocked: list(definition("guard")),
  fields: mapOf(
    record({
      ...{ effect: { enum: effects }, disruption: { enum: disruptions }, secret: flag },
      "source?": { enum: sources },
      "via?": { const: "database", description: "Set in the running database itself." },
    }),
    "Dotted path to what is said of the field.",
  ),
  "drift?": mapOf(
    record({
      secret: flag,
      "source?": {
        description: "Source of the value that was seen, if the database itself has shown it.",
        enum: sources,
      },
      "way_out?": { ...text, description: "The way to undo it, if apply leaves it as it is." },
    }),
    "Dotted path to what is said of a field that was changed outside.",
  ),
  ...{ "gone?": { const: true }, "backup_first?": { const: true }, "id?": text },
  "forced_by?": { ...text, description: "The field that forces the replacement." },
  "where?": record({ file: text, line: count, column: count }),
  "ways_on?": { ...text, description: "The ways on from an object that has failed." },
  "may_be?": record(
    {
      is: {
        enum: likenesses,
        description:
          "It has the mark of the address, or the declared name; or the service shows no names, and the state knows nothing.",
      },
      ids: { ...texts, description: "At most three." },
      count: { type: "integer", minimum: 1, description: "Number of all." },
    },
    "Of a create: existing objects that may be this one. Nothing says whose they are.",
  ),
  "phase?": record({ is: { enum: phases }, detail: text }),
});

const step = record({
  ...{ key: text, address: text, operation: { enum: operations } },
  "verb?": {
    ...text,
    description: "Of operate: the lifecycle operation. Of migrate: the part of the migration.",
  },
  ...{ after: texts, precondition: text, blocked: list(definition("guard")), "via?": { const: "database" } },
});

const failed = record({ problems: { ...list(definition("diagnostic")), minItems: 1 } });

/** The document of `plan --json`, JSON Schema draft-07. */
export const planSchema: JsonObject = {
  $schema: draft,
  title: "graphform plan --json, show --json PLANFILE",
  description:
    "The shape of Terraform's plan representation, format_version 1.2. Everything else is under x_graphform. Readers ignore keys that they do not know.",
  ...record({
    format_version: { type: "string", pattern: "^1\\.\\d+$" },
    applyable: flag,
    complete: {
      ...flag,
      description:
        "False if --target or --exclude left something out, a list was partial, or a database that was asked did not answer: another plan may find more to do.",
    },
    errored: flag,
    "timestamp?": { ...text, description: "ISO 8601. Absent if the plan could not be made." },
    resource_changes: list(definition("resourceChange")),
    resource_drift: list(definition("resourceDrift")),
    output_changes: mapOf(definition("outputChange")),
    "prior_state?": record(
      { format_version: { const: "1.0" }, values: definition("values") },
      "What was observed. What a plan did not look at is not in it.",
    ),
    "planned_values?": definition("values"),
    "configuration?": record(
      { root_module: record({ resources: list(definition("declaredResource")) }) },
      "What is declared. Absent if the plan has nothing that is declared, as one of destroy.",
    ),
    x_graphform: { oneOf: [definition("made"), definition("failed")] },
  }),
  ...{
    if: { properties: { errored: { const: true } } },
    then: {
      properties: {
        applyable: { const: false },
        resource_changes: { maxItems: 0 },
        x_graphform: definition("failed"),
      },
    },
    else: { required: ["timestamp"], properties: { x_graphform: definition("made") } },
  },
  definitions: {
    ...{
      resourceChange,
      resourceDrift: record({ ...identity, change: record(sides) }),
      outputChange,
      values,
    },
    ...{ outputValue, resourceValues, declaredResource, made, failed, changeExtras, step, ...shared },
  },
};
