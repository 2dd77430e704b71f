/** @module Fills a spec in for one request: names become ids, outputs get their values, secrets are opened. */

import { GraphformError } from "../model/errors.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { isReference, isSealed, isTemplate } from "../model/sealed.ts";
import { fieldsOf, type Spec } from "../model/spec.ts";
import { referenceFields, referent, resolveKnown } from "../model/templates.ts";
import type { ApplyContext } from "./context.ts";

/** The values of an applied spec as the state records them: outputs filled in, names kept, secrets sealed. */
export function recordOf(spec: Spec, context: ApplyContext): Spec {
  const outputsOf = (address: string): JsonObject | undefined => context.outputs.get(address);
  return Object.fromEntries(fieldsOf(spec).map(([path, value]) => [path, resolveKnown(value, outputsOf)]));
}

/** A spec as one request needs it, secrets opened: it goes nowhere else. Throws `output-missing` or `secret-missing`. */
export function requestSpec(kind: string, spec: Spec, context: ApplyContext): Spec {
  const references = new Map(
    referenceFields(context.kinds.named(kind).schema).map((field) => [field.path, field]),
  );
  const bound = fieldsOf(spec).map(([path, value]): [string, Json] => {
    const field = references.get(path);
    if (field === undefined || typeof value !== "string") return [path, openValue(value, context)];
    return [path, outputOf(`${field.section}.${value}`, field.output, context)];
  });
  return Object.fromEntries(bound);
}

function openValue(value: Json, context: ApplyContext): Json {
  if (isSealed(value)) {
    const text = context.open(value);
    if (text !== undefined) return text;
    const hint = "give the same secrets as when the plan was made, or make a new plan";
    const message = "a secret of this plan is unavailable, or has changed";
    throw new GraphformError("secret-missing", message, { hint, exitCode: 6 });
  }
  if (isReference(value)) {
    const { address, output } = referent(value.$ref);
    return outputOf(address, output, context);
  }
  if (isTemplate(value)) {
    const parts = value.$template.map((part) => openValue(part, context));
    return parts.length === 1 ? (parts[0] ?? null) : parts.map((part) => String(part)).join("");
  }
  if (Array.isArray(value)) return value.map((item: Json) => openValue(item, context));
  return value;
}

function outputOf(address: string, output: string, context: ApplyContext): Json {
  const value = context.outputs.get(address)?.[output];
  if (value !== undefined && value !== null) return value;
  throw new GraphformError("output-missing", `${address} has no output "${output}" yet`, {
    hint: "it may still be converging: run apply again once it is ready",
  });
}
