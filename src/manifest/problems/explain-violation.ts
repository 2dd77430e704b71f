/** @module Turns schema violations of a manifest into faults with messages and hints. */
import { holdsPassword } from "../../model/acl.ts";
import { fieldRows } from "../../model/field-schema.ts";
import { isObject, type Json } from "../../model/json.ts";
import { isSealed, isTemplate } from "../../model/sealed.ts";
import { pointerOf, type SchemaError } from "../../model/violation.ts";
import type { Part } from "../locate.ts";
import { type Shape, shapeAt } from "../schema/shape.ts";
import type { Path } from "../source.ts";
import { describe, dotted, type Fault, listed, nearest, suggest } from "./fault.ts";
import { shownKey } from "./plain-fields.ts";

export interface Explained {
  readonly path: Path;
  readonly part: Part;
  readonly fault: Fault;
}

/**
 * Explains each mistake once. Skips unknown values (secrets, outputs) and those that were reported before. Never quotes the value of a
 * secret field, nor one of `secrets`.
 */
export function explainViolations(
  violations: readonly SchemaError[],
  value: Json,
  shape: Shape,
  secrets: ReadonlySet<Json> = new Set(),
): readonly Explained[] {
  const found = violations.flatMap((violation): readonly KnownViolation[] => {
    const path = pathOf(pointerOf(violation), value);
    return path === undefined ? [] : [{ violation, path, shape: shapeAt(shape, path) ?? {} }];
  });
  if (found.length === 0) return [];
  const repeated = repeatedKeys(found);
  return found.flatMap((known) => {
    const { keyword, params } = known.violation;
    const word = keyword === "required" ? `required ${String(params["missingProperty"])}` : keyword;
    if (repeated.has(keyOf(known.violation, word))) return [];
    const explained = explain(known, value, shape, secrets);
    return explained === undefined ? [] : [explained];
  });
}

interface KnownViolation {
  readonly violation: SchemaError;
  readonly path: Path;
  readonly shape: Shape;
}

function explain(
  { violation, path, shape }: KnownViolation,
  value: Json,
  root: Shape,
  secrets: ReadonlySet<Json>,
): Explained | undefined {
  const { keyword, params, propertyName } = violation;
  if (propertyName !== undefined) {
    if (keyword !== "pattern") return undefined;
    const message = `${JSON.stringify(shownKey(propertyName))} cannot be used as a name`;
    const hint = "use letters, digits, - and _, beginning with a letter";
    return { path: [...path, propertyName], part: "key", fault: { code: "bad-name", message, hint } };
  }
  if (keyword === "required") {
    const key = String(params["missingProperty"]);
    const message = `${JSON.stringify(key)} is missing${within(path)}`;
    const hint = `add it: ${shape.properties?.[key]?.description ?? key}`;
    return { path, part: "key", fault: { code: "missing-key", message, hint } };
  }
  if (keyword === "additionalProperties") {
    const key = String(params["additionalProperty"]);
    const message = `unknown key ${JSON.stringify(shownKey(key))}${within(path)}`;
    const fault = { code: "unknown-key", message, hint: keyHint(key, shape, root) };
    return { path: [...path, key], part: "key", fault };
  }
  const found = valueAtPath(value, path);
  const known = secrets.has(found) ? { ...shape, "x-secret": true } : shape;
  const fault = faults[keyword]?.(dotted(path), found, known);
  return fault === undefined ? undefined : { path, part: "value", fault };
}

/** Violations that repeat another one: choices of a value of the wrong type, and missing keys that are there, misspelt. */
function repeatedKeys(found: readonly KnownViolation[]): ReadonlySet<string> {
  const keys = found.flatMap(({ violation, shape }): readonly string[] => {
    if (violation.keyword === "type") return ["enum", "const"].map((keyword) => keyOf(violation, keyword));
    if (violation.keyword !== "additionalProperties") return [];
    const key = String(violation.params["additionalProperty"]);
    // The key may be the service's own name, or a typing mistake.
    const meant = wiredAs(key, shape) ?? nearest(key, Object.keys(shape.properties ?? {}));
    return meant === undefined ? [] : [keyOf(violation, `required ${meant}`)];
  });
  return new Set(keys);
}

function keyOf(violation: SchemaError, what: string): string {
  return `${pointerOf(violation)} ${what}`;
}

/** A JSON pointer as a path; undefined if it leads to or through a value that is not known yet. */
function pathOf(pointer: string, root: Json): Path | undefined {
  const path: (string | number)[] = [];
  let value: Json = root;
  for (const raw of pointer.split("/").slice(1)) {
    const key = raw.includes("~") ? raw.replaceAll("~1", "/").replaceAll("~0", "~") : raw;
    const step = Array.isArray(value) ? Number(key) : key;
    path.push(step);
    value = valueAtPath(value, [step]);
    if (isSealed(value) || isTemplate(value)) return undefined;
  }
  return path;
}

function valueAtPath(root: Json, path: Path): Json {
  let value: Json = root;
  for (const step of path) {
    if (Array.isArray(value)) value = value[Number(step)] ?? null;
    else value = isObject(value) ? (value[String(step)] ?? null) : null;
  }
  return value;
}

/** Makes the fault of a value that violates a keyword. The other keywords are never seen by people. */
type Explain = (name: string, value: Json, shape: Shape) => Fault;

const exactlyOne: Explain = (name, _, shape) => ({
  code: "wrong-count",
  message: `${name} must have exactly one key`,
  hint: listed(Object.keys(shape.properties ?? {}), "one of"),
});

/** A number that is beyond a bound. */
function beyond(code: string, side: "least" | "most", bound: "minimum" | "maximum"): Explain {
  return (name, value, shape) => ({
    ...{ code, hint: boundsHint(shape) },
    message: `${name} must be at ${side} ${String(shape[bound])}${andIs(value, shape)}`,
  });
}

/** A text or a list of the wrong length. */
function sized(code: string, wordsOf: (most: number | undefined) => string, hint: string): Explain {
  return (name, _, { maxLength, description = hint }) => ({
    ...{ code, hint: description },
    message: `${name} ${wordsOf(maxLength)}`,
  });
}

const faults: { readonly [keyword: string]: Explain } = {
  type: (name, value, shape) => ({
    code: "wrong-type",
    message: `${name} must be ${typeWords(shape)}${andIs(value, shape)}`,
    hint: typeHint(value, shape),
  }),
  enum: (name, value, shape) => ({
    code: "not-allowed",
    message: `${name} is ${shown(value, shape)}, which is not allowed`,
    hint: suggest(String(value), choices(shape)),
  }),
  const: (name, value, shape) => ({
    code: "not-allowed",
    message: `${name} must be ${JSON.stringify(shape.const)}${andIs(value, shape)}`,
    hint: `write ${String(shape.const)}`,
  }),
  minimum: beyond("too-small", "least", "minimum"),
  maximum: beyond("too-large", "most", "maximum"),
  minLength: sized("too-short", () => "must not be empty", "write a text, or remove the key"),
  maxLength: sized("too-long", (most) => `must have at most ${most} characters`, "shorten it"),
  pattern: (name, value, shape) => ({
    code: "bad-format",
    message: `${name} is ${shown(value, shape)}, which does not have the right form`,
    hint: patternHint(shape),
  }),
  minItems: sized("too-short", () => "must not be an empty list", "add an entry, or remove the key"),
  minProperties: exactlyOne,
  maxProperties: exactlyOne,
};

const typeNames: { readonly [type: string]: string } = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "a map of keys and values",
  array: "a list",
};

function typeWords({ type = [] }: Shape): string {
  return [type]
    .flat()
    .map((name) => typeNames[name] ?? name)
    .join(" or ");
}

function typeHint(value: Json, shape: Shape): string {
  const { type } = shape;
  if (value === null)
    return `give it a value, or remove the key${type === "object" ? "; {} is an empty map" : ""}`;
  if (type === "string" && typeof value !== "object") return quotesHint(value, shape);
  if (type === "boolean" && typeof value === "string") return "write true or false, without quotes";
  if (type === "integer" || type === "number") {
    return /^\s*-?\d+(?:\.\d+)?\s*$/.test(String(value)) && typeof value === "string"
      ? "remove the quotes"
      : boundsHint(shape);
  }
  if (shape.enum !== undefined) return listed(choices(shape));
  return shape.description ?? `write ${typeWords(shape)}`;
}

/** The hint to quote a value, if the quoted text would be valid. */
function quotesHint(value: string | number | boolean, shape: Shape): string {
  const { pattern } = shape;
  if (shape["x-secret"] === true) return "put it in quotes";
  if (pattern !== undefined && !new RegExp(pattern, "u").test(String(value))) return patternHint(shape);
  return "put it in quotes, as it is to be read, here or in the variable that it comes from";
}

function choices(shape: Shape): readonly string[] {
  return (shape.enum ?? []).map(String);
}

function boundsHint(shape: Shape): string {
  if (shape.enum !== undefined) return listed(choices(shape));
  const { minimum, maximum } = shape;
  if (minimum !== undefined && maximum !== undefined) return `allowed: ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `allowed: ${minimum} or more`;
  return maximum === undefined ? "write a number without quotes" : `allowed: ${maximum} or less`;
}

function patternHint(shape: Shape): string {
  const examples = (shape.examples ?? []).map(String).join(", ");
  const form = examples === "" ? `it must match ${shape.pattern ?? ""}` : `for example ${examples}`;
  return shape.description === undefined ? form : `${shape.description.replace(/\.$/, "")}; ${form}`;
}

function isHidden(value: Json, shape: Shape): boolean {
  const isAcl = shape["x-compare"] === "acl" && typeof value === "string" && holdsPassword(value);
  return shape["x-secret"] === true || isAcl;
}

function andIs(value: Json, shape: Shape): string {
  return isHidden(value, shape) ? "" : `, and is ${describe(value)}`;
}

function shown(value: Json, shape: Shape): string {
  return isHidden(value, shape) ? "a secret" : describe(value);
}

function within(path: Path): string {
  return path.length === 0 ? "" : ` in ${dotted(path)}`;
}

function wiredAs(word: string, { properties = {} }: Shape): string | undefined {
  return Object.keys(properties).find((name) => properties[name]?.["x-wire"] === word);
}

/** The hint for an unknown key: the right spelling, or the place that it belongs to. */
function keyHint(key: string, shape: Shape, root: Shape): string {
  const wired = wiredAs(key, shape);
  if (wired !== undefined) return `write ${wired}: ${key} is the service's own word for it`;
  const elsewhere = [...fieldRows(root).keys()].find((path) => path === key || path.endsWith(`.${key}`));
  if (elsewhere === undefined) return suggest(key, Object.keys(shape.properties ?? {}), "known keys");
  const parent = elsewhere.slice(0, -key.length - 1);
  return parent === "" ? "move it out: it belongs directly to the resource" : `move it under ${parent}`;
}
