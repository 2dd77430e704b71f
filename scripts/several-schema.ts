import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, type Json, type JsonObject } from "../src/model/json.ts";
import { driftSchema } from "../src/report/drift/drift-schema.ts";

const draft = "http://json-schema.org/draft-07/schema#";
const count: JsonObject = { type: "integer", minimum: 0 };
const version: JsonObject = { type: "string", pattern: "^1\\." };

/** The published schema of plans, which is written by hand. */
function planSchema(): JsonObject {
  const text = readFileSync(join(import.meta.dirname, "../schemas/plan.schema.json"), "utf8");
  const value: Json = JSON.parse(text);
  if (!isObject(value)) throw new Error("schemas/plan.schema.json is no object");
  return value;
}

/** The document of `validate --json`, JSON Schema draft-07. Its diagnostics are those of a plan that failed. */
export function validationSchema(): JsonObject {
  const { definitions } = planSchema();
  if (!isObject(definitions)) throw new Error("schemas/plan.schema.json has no definitions");
  const { diagnostic = {}, position = {} } = definitions;
  return {
    $schema: draft,
    title: "graphform validation, version 1",
    ...record({
      format_version: version,
      valid: { type: "boolean", description: "True where no problem is an error." },
      error_count: count,
      warning_count: count,
      diagnostics: { type: "array", items: { $ref: "#/definitions/diagnostic" } },
    }),
    definitions: { diagnostic, position },
  };
}

/**
 * The document that `plan`, `drift` and `validate` with --json print for several --chdir, JSON Schema draft-07. It contains the schemas
 * of the documents of one manifest, so that a reader needs this file alone.
 */
export function severalSchema(): JsonObject {
  const project = (key: string): JsonObject =>
    record({
      folder: { type: "string", description: "As the command line names it." },
      exit_code: { ...count, description: "Exit code of the command for this manifest alone." },
      [key]: { $ref: `#/definitions/${key}` },
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
      plan: inside(planSchema(), "plan"),
      drift: inside(driftSchema, "drift"),
      validation: inside(validationSchema(), "validation"),
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

/** An object with these members and no others. */
function record(properties: JsonObject): JsonObject {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}
