/** @module Formats recorded outputs as JSON. */
import type { Json, JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import { holdsSecret } from "../model/sealed.ts";
import type { RecordedOutput } from "../model/state.ts";
import { sensitive } from "./value-text.ts";

type Outputs = { readonly [name: string]: RecordedOutput };

/** Outputs in the shape of `terraform output -json`; a sensitive value is `"(sensitive)"`. */
export function outputsJson(outputs: Outputs): JsonObject {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, output]): [string, Json] => [
      name,
      {
        sensitive: isSensitive(output),
        type: typeOfValue(output),
        value: isSensitive(output) ? sensitive : output.value,
      },
    ]),
  );
}

/** Outputs for the event stream; a sensitive one has no value. */
export function typedOutputs(outputs: Outputs): JsonObject {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, output]): [string, Json] => {
      const typed = { sensitive: isSensitive(output), type: typeOfValue(output) };
      return [name, isSensitive(output) ? typed : { ...typed, value: output.value }];
    }),
  );
}

/** True if the value must not be printed without a request by name. */
export function isSensitive(output: RecordedOutput): boolean {
  return output.sensitive || holdsSecret(output.value);
}

function typeOfValue(output: RecordedOutput): Json {
  return holdsSecret(output.value) ? "string" : typeName(output.value);
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
