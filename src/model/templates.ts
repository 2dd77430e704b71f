import type { Address } from "./address.ts";
import type { Json, JsonObject } from "./json.ts";
import { isObject } from "./json.ts";
import type { Template } from "./sealed.ts";
import { isReference, isSealed, isTemplate } from "./sealed.ts";

/** Outputs of an address, or undefined while they are not known. */
export type OutputsOf = (address: Address) => JsonObject | undefined;

/** Fills in the outputs that are known already; a template that still waits for one stays a template. */
export function resolveKnown(value: Json, outputsOf: OutputsOf): Json {
  if (isTemplate(value)) return resolveTemplate(value, outputsOf);
  if (Array.isArray(value)) return value.map((item: Json) => resolveKnown(item, outputsOf));
  if (!isObject(value) || isSealed(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolveKnown(inner, outputsOf)]));
}

/** Splits `instances.orders.endpoint` into address and output. */
export function referent(reference: string): { readonly address: Address; readonly output: string } {
  const dot = reference.lastIndexOf(".");
  return { address: reference.slice(0, dot), output: reference.slice(dot + 1) };
}

function resolveTemplate(template: Template, outputsOf: OutputsOf): Json {
  const parts = template.$template.map((part): Json => {
    if (!isReference(part)) return part;
    const { address, output } = referent(part.$ref);
    return outputsOf(address)?.[output] ?? part;
  });
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && !isReference(only)) return only;
  if (parts.some((part) => isReference(part) || isSealed(part))) return template;
  return parts.map((part) => String(part)).join("");
}
