/** @module Makes the faults of values that violate a schema keyword. */
import { holdsPassword } from "../../model/acl.ts";
import type { Json } from "../../model/json.ts";
import { leafPaths, type Shape } from "../schema/shape.ts";
import type { Path } from "../source.ts";
import { describe, dotted } from "./describe.ts";
import type { Fault } from "./finding.ts";
import { listed, nearest, suggest } from "./nearest.ts";
import { shownKey } from "./plain-fields.ts";

/** The fault of a value that violates a keyword; undefined for keywords that people never see. */
export function valueFault(keyword: string, name: string, value: Json, shape: Shape): Fault | undefined {
  return faults[keyword]?.(name, value, shape);
}

type Explain = (name: string, value: Json, shape: Shape) => Fault;

const exactlyOne: Explain = (name, _, shape) => ({
  code: "wrong-count",
  message: `${name} must have exactly one key`,
  hint: listed(Object.keys(shape.properties ?? {}), "one of"),
});

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
  minimum: (name, value, shape) => ({
    code: "too-small",
    message: `${name} must be at least ${String(shape.minimum)}${andIs(value, shape)}`,
    hint: boundsHint(shape),
  }),
  maximum: (name, value, shape) => ({
    code: "too-large",
    message: `${name} must be at most ${String(shape.maximum)}${andIs(value, shape)}`,
    hint: boundsHint(shape),
  }),
  minLength: (name, _, shape) => ({
    code: "too-short",
    message: `${name} must not be empty`,
    hint: shape.description ?? "write a text, or remove the key",
  }),
  maxLength: (name, _, shape) => ({
    code: "too-long",
    message: `${name} must have at most ${String(shape.maxLength)} characters`,
    hint: shape.description ?? "shorten it",
  }),
  pattern: (name, value, shape) => ({
    code: "bad-format",
    message: `${name} is ${shown(value, shape)}, which does not have the right form`,
    hint: patternHint(shape),
  }),
  minItems: (name, _, shape) => ({
    code: "too-short",
    message: `${name} must not be an empty list`,
    hint: shape.description ?? "add an entry, or remove the key",
  }),
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
  const types = typeof type === "string" ? [type] : type;
  return types.map((name) => typeNames[name] ?? name).join(" or ");
}

function typeHint(value: Json, shape: Shape): string {
  const { type } = shape;
  if (value === null) {
    return `give it a value, or remove the key${type === "object" ? "; {} is an empty map" : ""}`;
  }
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

/** The hint to quote a value, where the quoted text would be valid. */
function quotesHint(value: string | number | boolean, shape: Shape): string {
  const { pattern } = shape;
  if (shape["x-secret"] === true) return "put it in quotes";
  if (pattern !== undefined && !new RegExp(pattern, "u").test(String(value))) return patternHint(shape);
  return `put it in quotes, as it is to be read: "${String(value)}"`;
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

/** The fault of a required key that is missing. */
export function missingKey(path: Path, key: string, shape: Shape): Fault {
  const message = `${JSON.stringify(key)} is missing${within(path)}`;
  return { code: "missing-key", message, hint: `add it: ${shape.properties?.[key]?.description ?? key}` };
}

/** The fault of a key that its map does not have; the hint names the likely one. */
export function unknownKey(path: Path, key: string, shape: Shape, root: Shape): Fault {
  const message = `unknown key ${JSON.stringify(shownKey(key))}${within(path)}`;
  return { code: "unknown-key", message, hint: keyHint(key, shape, root) };
}

/** The fault of a name that cannot be part of an address. */
export function badName(name: string): Fault {
  const message = `${JSON.stringify(shownKey(name))} cannot be used as a name`;
  return { code: "bad-name", message, hint: "use letters, digits, - and _, beginning with a letter" };
}

/** The key that an unknown one probably stands for: by the service's spelling, or by a typing mistake. */
export function meantKey(key: string, shape: Shape): string | undefined {
  return wiredAs(key, shape) ?? nearest(key, Object.keys(shape.properties ?? {}));
}

function within(path: Path): string {
  return path.length === 0 ? "" : ` in ${dotted(path)}`;
}

function wiredAs(word: string, { properties = {} }: Shape): string | undefined {
  return Object.keys(properties).find((name) => properties[name]?.["x-wire"] === word);
}

/** The hint for an unknown key: the right spelling, or the place where it belongs. */
function keyHint(key: string, shape: Shape, root: Shape): string {
  const wired = wiredAs(key, shape);
  if (wired !== undefined) return `write ${wired}: ${key} is the service's own word for it`;
  const elsewhere = [...leafPaths(root).keys()].find((path) => path === key || path.endsWith(`.${key}`));
  if (elsewhere === undefined) return suggest(key, Object.keys(shape.properties ?? {}), "known keys");
  const parent = elsewhere.slice(0, -key.length - 1);
  return parent === "" ? "move it out: it belongs directly to the resource" : `move it under ${parent}`;
}
