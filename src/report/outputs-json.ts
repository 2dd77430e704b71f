/** @module Formats recorded outputs as JSON. */
import type { Json, JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { ShownOutputs } from "./shown.ts";

/** Outputs in the shape of `terraform output -json`; a sensitive value is `"(sensitive)"`, whose type is `string`. */
export function outputsJson(outputs: ShownOutputs): JsonObject {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, output]): [string, Json] => {
      const value = output.value.json ?? null;
      return [name, { sensitive: output.sensitive, type: typeName(value), value }];
    }),
  );
}

/** Outputs for the event stream; a sensitive one has no value. */
export function typedOutputs(outputs: ShownOutputs): JsonObject {
  return Object.fromEntries(
    Object.entries(outputs).map(
      ([
        name,
        {
          sensitive,
          value: { json = null },
        },
      ]): [string, Json] => {
        const typed = { sensitive, type: typeName(json) };
        return [name, sensitive ? typed : { ...typed, value: json }];
      },
    ),
  );
}

/** The type of a value in Terraform's JSON notation. */
function typeName(value: Json): Json {
  if (value === null) return "dynamic";
  if (Array.isArray(value)) return ["tuple", value.map(typeName)];
  if (isObject(value))
    return [
      "object",
      Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, typeName(inner)])),
    ];
  return typeof value === "boolean" ? "bool" : typeof value;
}
