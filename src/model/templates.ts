/** @module Fills known outputs into templates, and turns templates without unknown parts into values. */
import type { Address } from "./address.ts";
import { type FieldSchema, fieldRows, type KindSchema } from "./field-schema.ts";
import { isObject, type Json, type JsonObject, mapped } from "./json.ts";
import type { Kind } from "./kind.ts";
import { perObject } from "./once.ts";
import { isReference, isSealed, isTemplate, type Open, type Template } from "./sealed.ts";
import { fieldsOf, type Spec } from "./spec.ts";

/** Outputs of an address, or undefined while they are not known. */
export type OutputsOf = (address: Address) => JsonObject | undefined;

/** Fills in known outputs; a template that still waits for one stays a template. A value without any is returned as it is. */
export function resolveKnown(value: Json, outputsOf: OutputsOf): Json {
  return holdsTemplate(value) ? resolveInside(value, outputsOf) : value;
}

/** The values of a spec that are known now, outputs filled in. Those that still wait for one are left out. */
export function filledIn(spec: Spec, outputsOf: OutputsOf): Spec {
  const filled = fieldsOf(spec).map(([path, value]) => [path, resolveKnown(value, outputsOf)] as const);
  return Object.fromEntries(filled.filter(([, value]) => waitsFor(value).length === 0));
}

/** The same with secrets opened; without those that cannot be. */
export function knownValues(spec: Spec, open: Open, outputsOf: OutputsOf): Spec {
  const opened = Object.entries(filledIn(spec, outputsOf)).flatMap(([path, value]): [string, Json][] => {
    const known = openKnown(value, open);
    return known === undefined ? [] : [[path, known]];
  });
  return Object.fromEntries(opened);
}

function openKnown(value: Json, open: Open): Json | undefined {
  if (isSealed(value)) return open(value);
  if (!isTemplate(value)) return value;
  const parts = value.$template.map((part) => (isSealed(part) ? open(part) : part));
  return parts.some((part) => part === undefined) ? undefined : parts.map(String).join("");
}

function holdsTemplate(value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsTemplate);
  return isTemplate(value) || (isObject(value) && Object.values(value).some(holdsTemplate));
}

function resolveInside(value: Json, outputsOf: OutputsOf): Json {
  if (isTemplate(value)) return resolveTemplate(value, outputsOf);
  if (Array.isArray(value)) return value.map((item: Json) => resolveInside(item, outputsOf));
  if (!isObject(value) || isSealed(value)) return value;
  return mapped(value, (inner) => resolveInside(inner, outputsOf));
}

/** Addresses whose outputs a value still waits for. */
export function waitsFor(value: Json): readonly Address[] {
  return referencesIn(value).map((reference) => referent(reference).address);
}

/** Outputs that a value still waits for, each as `instances.orders.endpoint`. */
export function referencesIn(value: Json): readonly string[] {
  if (isReference(value)) return [value.$ref];
  if (isTemplate(value)) return value.$template.flatMap(referencesIn);
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  return isObject(value) && !isSealed(value) ? Object.values(value).flatMap(referencesIn) : [];
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
  if (parts.some(isReference)) return template;
  if (parts.some(isSealed)) return { $template: parts.map((part) => (isSealed(part) ? part : String(part))) };
  return parts.map((part) => String(part)).join("");
}

/** A field whose value names a resource of a section. `place`: the object is found through it. `holds`: it is built on it, which the service keeps. */
export interface ReferenceField extends NonNullable<FieldSchema["x-reference"]> {
  readonly path: string;
  readonly place: boolean;
  readonly holds: boolean;
}

/** The reference fields of a kind, in the order of its table. */
export const referenceFields: (schema: KindSchema) => readonly ReferenceField[] = perObject((schema) =>
  [...fieldRows(schema)].flatMap(([path, row]) => {
    const reference = row["x-reference"];
    const place = row["x-place"] === true;
    const holds = !place && row["x-create-only"] === true;
    return reference === undefined ? [] : [{ path, ...reference, place, holds }];
  }),
);

/** The addresses that the reference fields of a spec name, each with its field. A kind that is not known has none. */
export function referencedIn(
  schema: KindSchema | undefined,
  spec: { readonly [path: string]: Json },
): readonly (ReferenceField & { readonly address: Address })[] {
  const fields = schema === undefined ? [] : referenceFields(schema);
  const written = fields.filter(({ path }) => typeof spec[path] === "string");
  return written.map((field) => ({ ...field, address: `${field.section}.${String(spec[field.path])}` }));
}

/** The addresses of the objects that an object is found through, each with the field that names it. */
export const hostsIn: typeof referencedIn = (schema, spec) =>
  referencedIn(schema, spec).filter(({ place }) => place);

/** The place of a declared object, with the ids of the objects that it is found through; undefined while one of them does not exist. */
export function placeOf(
  { schema, place }: Pick<Kind, "schema" | "place">,
  spec: Spec,
  outputsOf: OutputsOf,
): JsonObject | undefined {
  const through = referenceFields(schema).filter((field) => field.place);
  const found = through.flatMap((field): [string, Json][] => {
    const value = outputsOf(`${field.section}.${String(spec[field.path])}`)?.[field.output];
    return value === undefined ? [] : [[field.path, value]];
  });
  return found.length < through.length ? undefined : place({ ...spec, ...Object.fromEntries(found) });
}

/** Kind and id of the objects that a place is in. */
export function parentsIn(
  schema: KindSchema,
  place: JsonObject,
): readonly { readonly kind: string; readonly id: string }[] {
  const parents = referenceFields(schema).filter((field) => field.place && field.output === "id");
  return parents.map(({ path, section }) => ({ kind: section, id: String(place[path]) }));
}
