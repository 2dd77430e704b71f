import type { Json, JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import { holdsSecret } from "../model/sealed.ts";
import type { RecordedOutput } from "../model/state.ts";
import { sensitive } from "./value-text.ts";

type Outputs = { readonly [name: string]: RecordedOutput };

/** `output --json`: Terraform's shape; a sensitive value is `"(sensitive)"`. */
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

/** Outputs as the event stream has them: without the value where it is sensitive. */
export function typedOutputs(outputs: Outputs): JsonObject {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, output]): [string, Json] => {
      const typed = { sensitive: isSensitive(output), type: typeOfValue(output) };
      return [name, isSensitive(output) ? typed : { ...typed, value: output.value }];
    }),
  );
}

/** True where the value must not be shown unasked. */
export function isSensitive(output: RecordedOutput): boolean {
  return output.sensitive || holdsSecret(output.value);
}

function typeOfValue(output: RecordedOutput): Json {
  return holdsSecret(output.value) ? "string" : typeName(output.value);
}

/** The type of a value as Terraform spells types in JSON. */
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
