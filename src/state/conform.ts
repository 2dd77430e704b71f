/** @module Checks a value against a schema of our own documents. */
import type { FieldSchema } from "../model/field-schema.ts";
import { isObject } from "../model/json.ts";

/**
 * The first way in which a value read from a file does not conform to a schema, or undefined. Knows what our own
 * documents use of draft-07: type, const, enum, minimum, minLength, pattern, properties, required,
 * additionalProperties, items.
 */
export function firstViolation(schema: FieldSchema, value: unknown): string | undefined {
  const found = violationOf(schema, value);
  return found === undefined ? undefined : `${spelled(found.path)} ${found.what}`;
}

/** A violation and its path. The path is built from its end, so that values without a violation cost nothing. */
interface Violation {
  readonly path: readonly (string | number)[];
  readonly what: string;
}

function violationOf(schema: FieldSchema, value: unknown): Violation | undefined {
  if (schema.const !== undefined && value !== schema.const)
    return here(`is not ${JSON.stringify(schema.const)}`);
  if (schema.enum !== undefined && !schema.enum.some((allowed) => allowed === value)) {
    return here(`is none of ${schema.enum.join(", ")}`);
  }
  if (typeof schema.type === "string" && !isOfType(schema.type, value)) {
    return here(`is not ${/^[aeio]/.test(schema.type) ? "an" : "a"} ${schema.type}`);
  }
  if (typeof value === "number" && value < (schema.minimum ?? value))
    return here(`is below ${schema.minimum}`);
  if (typeof value === "string") return violationInText(schema, value);
  if (Array.isArray(value)) return violationInItems(schema, value);
  return isObject(value) ? violationInObject(schema, value) : undefined;
}

function isOfType(type: string, value: unknown): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function violationInText(schema: FieldSchema, value: string): Violation | undefined {
  if (value.length < (schema.minLength ?? 0)) return here("is empty");
  if (schema.pattern !== undefined && !compiled(schema.pattern).test(value)) return here("is malformed");
  return undefined;
}

const patterns = new Map<string, RegExp>();

/** A pattern, compiled once. */
function compiled(pattern: string): RegExp {
  const known = patterns.get(pattern) ?? new RegExp(pattern, "u");
  patterns.set(pattern, known);
  return known;
}

function violationInItems(schema: FieldSchema, items: readonly unknown[]): Violation | undefined {
  if (schema.items === undefined) return undefined;
  for (const [index, item] of items.entries()) {
    const found = violationOf(schema.items, item);
    if (found !== undefined) return below(index, found);
  }
  return undefined;
}

function violationInObject(
  schema: FieldSchema,
  value: { readonly [key: string]: unknown },
): Violation | undefined {
  const missing = schema.required?.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return below(missing, here("is missing"));
  for (const name of Object.keys(value)) {
    const known = schema.properties !== undefined && Object.hasOwn(schema.properties, name);
    const row = known ? schema.properties?.[name] : schema.additionalProperties;
    if (row === false) return below(name, here("is unknown"));
    const found = row === undefined || row === true ? undefined : violationOf(row, value[name]);
    if (found !== undefined) return below(name, found);
  }
  return undefined;
}

function here(what: string): Violation {
  return { path: [], what };
}

function below(step: string | number, { path, what }: Violation): Violation {
  return { path: [step, ...path], what };
}

function spelled(path: Violation["path"]): string {
  if (path.length === 0) return "the document";
  const steps = path.map((step, at) => {
    if (typeof step === "number") return `[${step}]`;
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(step)) return `[${JSON.stringify(step)}]`;
    return at === 0 ? step : `.${step}`;
  });
  return steps.join("");
}
