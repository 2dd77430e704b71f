import { Ajv } from "ajv";
import standalone from "ajv/dist/standalone/index.js";
import type { FieldSchema } from "../src/model/field-schema.ts";
import {
  bound,
  converging,
  eventSchemas,
  intent,
  outputs,
  round,
  savedPlanSchema,
  serviceSchema,
  stateSchema,
  texts,
} from "../src/state/state-schema.ts";
import { compiledModule, writeEmitted } from "./compiled-module.ts";

/**
 * Writes the compiled validators of the state's files: the document, the events of its log, and saved plans. They
 * stop at the first violation.
 */
const ajv = new Ajv({ strict: true, messages: false, inlineRefs: false, code: { source: true, esm: true } });
const events = Object.entries(eventSchemas).map(
  ([type, schema]) => [type, `event_${type.replaceAll("-", "_")}`, schema] as const,
);
const schemas: readonly (readonly [key: string, schema: FieldSchema])[] = [
  ["state", stateSchema],
  ["plan", savedPlanSchema],
  ...events.map(([, key, schema]) => [key, schema] as const),
];
/** Rows that stand in several schemas: each is compiled once. */
const shared = new Map<unknown, string>(
  Object.entries({ bound, intent, round, converging, outputs, serviceSchema, texts }).map(([key, row]) => [
    row,
    key,
  ]),
);
for (const [row, key] of shared) ajv.addSchema(withReferences(row, true), key);
for (const [key, schema] of schemas) ajv.addSchema(withReferences(schema), key);

writeEmitted("src/state/validators.generated.js", await compiledModule(compiled(), "emit-state.ts"));
writeEmitted(
  "src/state/validators.generated.d.ts",
  [
    "// Emitted by scripts/emit-state.ts.",
    'import type { StateDocument } from "../model/state.ts";',
    'import type { StateEvent } from "../model/state-event.ts";',
    'import type { Conforms } from "../model/violation.ts";',
    "/** The compiled schemas of the state's files. */",
    "export declare const validators: {",
    "  readonly state: Conforms<StateDocument>;",
    "  readonly plan: Conforms<unknown>;",
    '  readonly events: { readonly [type in StateEvent["type"]]: Conforms<StateEvent> };',
    "};",
    "",
  ].join("\n"),
);

/** A schema with a reference where a shared row stands. */
function withReferences(schema: unknown, isRow = false): object {
  if (typeof schema !== "object" || schema === null) throw new Error("a schema is an object");
  const key = isRow ? undefined : shared.get(schema);
  if (key !== undefined) return { $ref: key };
  return Object.fromEntries(Object.entries(schema).map(([word, value]) => [word, referring(value)]));
}

function referring(value: unknown): unknown {
  if (Array.isArray(value)) return value;
  return typeof value === "object" && value !== null ? withReferences(value) : value;
}

function compiled(): string {
  const code = standalone.default(ajv, Object.fromEntries(schemas.map(([key]) => [key, key])));
  const byType = events.map(([type, key]) => `${JSON.stringify(type)}: ${key}`);
  return [
    code.replace(/\bexport const (\w+) = /g, "const $1 = "),
    `export const validators = { state, plan, events: { ${byType.join(", ")} } };`,
  ].join("\n");
}
