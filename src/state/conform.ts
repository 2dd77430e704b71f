import type { FieldSchema } from "../model/field-schema.ts";
import { isObject } from "../model/json.ts";

/**
 * The first way in which a value read from a file does not conform to a schema, or undefined. Knows what our own
 * documents use of draft-07: type, const, enum, minimum, minLength, pattern, properties, required,
 * additionalProperties, items.
 */
export function misfit(schema: FieldSchema, value: unknown, at = ""): string | undefined {
  const where = at === "" ? "the document" : at;
  if (schema.const !== undefined && value !== schema.const)
    return `${where} is not ${JSON.stringify(schema.const)}`;
  if (schema.enum !== undefined && !schema.enum.some((allowed) => allowed === value)) {
    return `${where} is none of ${schema.enum.join(", ")}`;
  }
  if (typeof schema.type === "string" && !isOfType(schema.type, value)) {
    return `${where} is not ${/^[aeio]/.test(schema.type) ? "an" : "a"} ${schema.type}`;
  }
  if (typeof value === "number" && value < (schema.minimum ?? value))
    return `${where} is below ${schema.minimum}`;
  if (typeof value === "string") return misfitText(schema, value, where);
  if (Array.isArray(value)) return misfitItems(schema, value, at);
  return isObject(value) ? misfitObject(schema, value, at) : undefined;
}

function isOfType(type: string, value: unknown): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function misfitText(schema: FieldSchema, value: string, where: string): string | undefined {
  if (value.length < (schema.minLength ?? 0)) return `${where} is empty`;
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, "u").test(value))
    return `${where} is malformed`;
  return undefined;
}

function misfitItems(schema: FieldSchema, items: readonly unknown[], at: string): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = schema.items === undefined ? undefined : misfit(schema.items, item, `${at}[${index}]`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function misfitObject(
  schema: FieldSchema,
  value: { readonly [key: string]: unknown },
  at: string,
): string | undefined {
  const missing = schema.required?.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return `${below(at, missing)} is missing`;
  for (const [name, member] of Object.entries(value)) {
    const known = schema.properties !== undefined && Object.hasOwn(schema.properties, name);
    const row = known ? schema.properties?.[name] : schema.additionalProperties;
    if (row === false) return `${below(at, name)} is unknown`;
    const found = row === undefined || row === true ? undefined : misfit(row, member, below(at, name));
    if (found !== undefined) return found;
  }
  return undefined;
}

function below(at: string, name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `${at}[${JSON.stringify(name)}]`;
  return at === "" ? name : `${at}.${name}`;
}
