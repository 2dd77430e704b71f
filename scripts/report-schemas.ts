import { driftClasses, happenings } from "../src/model/drift.ts";
import { disruptions } from "../src/model/field-schema.ts";
import { isObject, type Json, type JsonObject } from "../src/model/json.ts";
import { migration } from "../src/state/state-schema.ts";
import { effects, sources } from "./document-words.ts";
import { planSchema } from "./plan-schema.ts";
import { count, definition, draft, flag, list, record, shared, text } from "./schema-parts.ts";

const version: JsonObject = { type: "string", pattern: "^1\\." };
const time: JsonObject = { type: "string", description: "ISO 8601." };
const anything: JsonObject = { description: "Any value; a secret stands as (sensitive)." };

const where = record({ file: text, line: count, column: count }, "File, line and column in the manifest.");
const driftClass: JsonObject = {
  enum: driftClasses,
  description: "outside: the world has changed. ours: the manifest has. cosmetic: it does not matter.",
};
const values: JsonObject = { "applied?": anything, "seen?": anything };

const field = record({
  path: text,
  class: driftClass,
  reason: text,
  sensitive: flag,
  ...values,
  "declared?": anything,
  "source?": { enum: sources },
  "effect?": { enum: effects, description: "What putting the declared value back takes." },
  "disruption?": { enum: disruptions },
  "where?": where,
});

const resource = record({
  address: text,
  kind: text,
  type: text,
  "id?": text,
  class: driftClass,
  what: { enum: happenings },
  reason: text,
  "since?": { ...time, description: "When the last apply saw it as it should be, ISO 8601." },
  "phase?": text,
  "status?": text,
  "ways_on?": { ...text, description: "The ways on from an object that has failed." },
  "where?": where,
  fields: list(field),
  events: list(record({ time, message: text, "user?": text }, "From the service's audit log.")),
});

const failed: JsonObject = {
  ...flag,
  description: "True if it could not be read; false if there was a reason not to read it.",
};

const login: JsonObject = { ...flag, description: "True for the login of a user, false for a database." };

function asked(description: string): JsonObject {
  return { ...record({ asked: count, all: count }), description };
}

const census = record({
  declared: count,
  checked: count,
  skipped: count,
  unmanaged: count,
  fields: record(Object.fromEntries(sources.map((source) => [source, count]))),
  not_checked: list(record({ address: text, reason: text, failed })),
  unfinished: list(record({ address: text, reason: text })),
  "probed?": { ...count, description: "Running databases that were asked; absent if none could be." },
  "databases?": asked("Running databases that were asked, of all that are declared and exist."),
  "logins?": asked("Logins of users that were tried, of all."),
  "access_rules?": {
    ...record({ not_checked_in_database: count, reason: text }),
    description:
      "Users whose access rules were compared with what the service keeps, and not in the database.",
  },
  "not_probed?": list(record({ address: text, login, reason: text, "way_out?": text, failed })),
  "refused_logins?": list(record({ address: text, login, reason: text, "way_out?": text })),
  "engines?": { type: "object", additionalProperties: count },
  "partial_lists?": { ...list(text), description: "Lists of which the service shows a part only." },
});

const report = record({
  format_version: version,
  errored: { const: false },
  complete: {
    ...flag,
    description:
      "False if --target or --exclude left something out, something could not be read, a list was partial, or a database that was asked did not answer.",
  },
  drifted: { ...flag, description: "True if something that matters was changed outside: exit code 2." },
  name: text,
  timestamp: time,
  summary: record({ outside: count, ours: count, cosmetic: count, seen: count, remembered: count }),
  resources: list(resource),
  outputs: list(record({ name: text, sensitive: flag, ...values })),
  "unmanaged?": list(record({ kind: text, type: text, id: text, "name?": text })),
  census,
});

const failure = record({
  format_version: version,
  errored: { const: true },
  complete: { const: false },
  drifted: { const: false },
  problems: list({ type: "object" }),
});

/** The document of `drift --json`, JSON Schema draft-07. */
export const driftSchema: JsonObject = {
  $schema: draft,
  title: "graphform drift report, version 1",
  oneOf: [
    { ...report, description: "What differs from the last apply." },
    { ...failure, description: "The service could not be read: this proves nothing." },
  ],
};

/** The document of `validate --json`, JSON Schema draft-07. Its diagnostics are those of a plan that failed. */
export const validationSchema: JsonObject = {
  $schema: draft,
  title: "graphform validation, version 1",
  ...record({
    format_version: version,
    valid: { type: "boolean", description: "True if no problem is an error." },
    error_count: count,
    warning_count: count,
    diagnostics: list(definition("diagnostic")),
  }),
  definitions: { diagnostic: shared.diagnostic, position: shared.position },
};

/**
 * The document that `plan`, `drift` and `validate` with --json print for several --chdir, JSON Schema draft-07. It contains the schemas
 * of the documents of one manifest, so that a reader needs this file alone.
 */
export function severalSchema(): JsonObject {
  const project = (key: string): JsonObject =>
    record({
      folder: { type: "string", description: "As the command line names it." },
      exit_code: { ...count, description: "Exit code of the command for this manifest alone." },
      [key]: definition(key),
    });
  const document = (key: string, title: string, counts: readonly string[]): JsonObject => ({
    ...record({
      format_version: version,
      projects: { type: "array", items: project(key), description: "In the order of the command line." },
      summary: record(Object.fromEntries(["manifests", ...counts, "failed"].map((name) => [name, count]))),
    }),
    title,
  });
  const compared = ["changed", "unchanged"];
  return {
    $schema: draft,
    title: "graphform results of several manifests, version 1",
    description: "A reader ignores keys that it does not know, and refuses another major version.",
    oneOf: [
      document("plan", "plan --json", compared),
      document("drift", "drift --json", compared),
      document("validation", "validate --json", ["valid", "invalid"]),
    ],
    definitions: {
      plan: inside(planSchema, "plan"),
      drift: inside(driftSchema, "drift"),
      validation: inside(validationSchema, "validation"),
    },
  };
}

/** A schema as a definition of another one: its own references lead there. */
function inside(schema: JsonObject, name: string): JsonObject {
  const { $schema: _, ...rest } = schema;
  const moved = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(moved);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [
        key,
        key === "$ref" && typeof part === "string"
          ? part.replace(/^#\//, `#/definitions/${name}/`)
          : moved(part),
      ]),
    );
  };
  return Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, moved(part)]));
}

const { former: _, mark: __, ...shown } = migration.properties ?? {};

/** The document of `replace status --json`, JSON Schema draft-07. */
export const replaceSchema: object = {
  $schema: draft,
  title: "graphform replace status --json",
  description: "Address to the migration of its data.",
  type: "object",
  additionalProperties: { ...migration, properties: shown },
};
