import { defined, type JsonObject } from "../src/model/json.ts";
import { severities } from "./document-words.ts";

export const draft = "http://json-schema.org/draft-07/schema#";
export const count: JsonObject = { type: "integer", minimum: 0 };
export const text: JsonObject = { type: "string" };
export const texts: JsonObject = { type: "array", items: text };
export const flag: JsonObject = { type: "boolean" };

/** An object with these members and no others; one whose name ends with `?` may be absent. */
export function record(members: JsonObject, description?: string): JsonObject {
  const names = Object.keys(members);
  return {
    type: "object",
    ...defined({ description }),
    properties: Object.fromEntries(Object.entries(members).map(([name, of]) => [name.replace("?", ""), of])),
    required: names.filter((name) => !name.endsWith("?")),
    additionalProperties: false,
  };
}

export function list(items: JsonObject): JsonObject {
  return { type: "array", items };
}

/** A map of any names to values of this form. */
export function mapOf(additionalProperties: JsonObject, description?: string): JsonObject {
  return { type: "object", ...defined({ description }), additionalProperties };
}

/** A reference to a definition of the same schema. */
export function definition(name: string): JsonObject {
  return { $ref: `#/definitions/${name}` };
}

const position = record({ line: { type: "integer", minimum: 1 }, column: { type: "integer", minimum: 1 } });

const range = record({ filename: text, start: definition("position"), end: definition("position") });

const snippet = record({
  context: { type: ["string", "null"] },
  code: text,
  start_line: count,
  highlight_start_offset: count,
  highlight_end_offset: count,
  values: { type: "array", maxItems: 0 },
});

const diagnostic = record(
  {
    severity: { enum: severities },
    summary: text,
    detail: text,
    "address?": text,
    "range?": range,
    "snippet?": snippet,
    "x_graphform?": record({ "code?": text, "exit_code?": count, "key?": text, "result?": text }),
  },
  "A problem or an error, in the shape of Terraform's diagnostics.",
);

const guard = record(
  {
    code: { ...text, description: "Stable code." },
    message: text,
    lift: { ...text, description: "The way to lift it." },
  },
  "Why something is not carried out.",
);

/** Definitions that several schemas have. */
export const shared: { readonly [name in "guard" | "diagnostic" | "position"]: JsonObject } = {
  guard,
  diagnostic,
  position,
};
