import { disruptions } from "../src/model/field-schema.ts";
import type { JsonObject } from "../src/model/json.ts";
import { streamWords } from "../src/report/events.ts";
import { actions, operations, outputActions, results } from "./document-words.ts";
import { count, definition, draft, flag, list, mapOf, record, shared, text, texts } from "./schema-parts.ts";

/** One line of the stream with these members beside those that every line has. */
function line(type: string, members: JsonObject, description?: string): JsonObject {
  const envelope = {
    "@level": { enum: ["info", "warn", "error"] },
    "@message": text,
    "@module": { const: "graphform.ui" },
    "@timestamp": { type: "string", description: "ISO 8601." },
    type: { const: type },
  };
  return record({ ...envelope, ...members }, description);
}

/** One line about a step; `more` stands beside its key. */
function stepLine(type: string, more: JsonObject): JsonObject {
  const elapsed = type === "apply_start" ? {} : { elapsed_seconds: count };
  // One step of a migration changes a part.
  const shown = operations.map((operation) => (operation === "migrate" ? "update" : streamWords[operation]));
  const hook = {
    ...{ resource: definition("resource"), action: { enum: [...new Set(shown)] } },
    ...{ "id_key?": { const: "id" }, "id_value?": text },
  };
  return line(type, {
    hook: record({ ...hook, ...elapsed }),
    x_graphform: record({ key: text, operation: { enum: operations }, "verb?": text, ...more }),
  });
}

const resourceDrift = line("resource_drift", {
  change: record({ resource: definition("resource"), action: { enum: ["update", "delete"] } }),
  x_graphform: record({ fields: texts }),
});

const plannedChange = line("planned_change", {
  change: record({
    resource: definition("resource"),
    "previous_resource?": definition("resource"),
    action: { enum: [...new Set(actions.map((action) => streamWords[action]))] },
    "reason?": { enum: ["requested", "cannot_update", "delete_because_no_resource_config"] },
    "importing?": record({ id: text }),
  }),
  x_graphform: record({
    ...{ reason: text, disruption: { enum: disruptions }, blocked: list(definition("guard")) },
  }),
});

const changeSummary = line("change_summary", {
  changes: record({
    ...{ add: count, change: count, import: count, remove: count },
    operation: { enum: ["plan", "apply", "destroy"] },
  }),
  x_graphform: {
    ...record({
      "blocked?": { ...count, description: "Of a plan." },
      "exit_code?": { ...count, description: "Of a run." },
      "resumed?": {
        type: "integer",
        minimum: 1,
        description: "Of a run: creates of an earlier run that it has found. Absent if there were none.",
      },
    }),
    minProperties: 1,
  },
});

const changedOutput = record({
  action: { enum: outputActions.filter((action) => action !== "no-op") },
  sensitive: flag,
});

const output = record({
  sensitive: flag,
  type: { description: "Type in Terraform's JSON notation." },
  "value?": { description: "Absent where it is sensitive." },
});

const resource = record({
  ...{ addr: text, module: { const: "" }, resource: text, implied_provider: { const: "graphform" } },
  ...{ resource_type: text, resource_name: text, resource_key: { type: ["string", "null"] } },
});

const lines = {
  version: line(
    "version",
    {
      graphform: { ...text, description: "Version of graphform." },
      ui: { type: "string", pattern: "^1\\.\\d+$", description: "Version of this stream." },
    },
    "The first line.",
  ),
  diagnosticEvent: line("diagnostic", { diagnostic: definition("diagnostic") }),
  resourceDrift,
  plannedChange,
  changeSummary,
  plannedOutputs: line(
    "outputs",
    { outputs: { ...mapOf(changedOutput), minProperties: 1 } },
    "Outputs that the plan changes.",
  ),
  outputs: line("outputs", { outputs: { ...mapOf(output), minProperties: 1 } }, "Outputs after the run."),
  applyStart: stepLine("apply_start", {}),
  applyProgress: stepLine("apply_progress", {
    status: { ...text, description: "The service's words." },
  }),
  applyComplete: stepLine("apply_complete", { result: { const: "done" } }),
  applyErrored: stepLine("apply_errored", {
    result: { enum: results.filter((result) => result !== "done") },
  }),
};

/** One line of `apply --json`, JSON Schema draft-07. */
export const eventSchema: JsonObject = {
  $schema: draft,
  title: "graphform apply --json, destroy --json, --log",
  description:
    "One line of the stream, in the shape of Terraform's UI stream. Readers ignore types and keys that they do not know.",
  oneOf: Object.keys(lines).map(definition),
  definitions: { ...lines, resource, ...shared },
};
