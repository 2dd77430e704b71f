import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import { isSealed, isTemplate } from "../model/sealed.ts";
import type { Fault } from "./finding.ts";
import type { Part } from "./locate.ts";
import { listed, nearest, suggest } from "./nearest.ts";
import { leafPaths, type Shape, shapeAt } from "./shape.ts";
import type { Path } from "./source.ts";
import type { Violation } from "./validators.ts";

/** A violation in words, and which part of the manifest it points at. */
export interface Explained {
  readonly path: Path;
  readonly part: Part;
  readonly fault: Fault;
}

/**
 * A validator's violations in people's words. Values that are not known yet (secrets, outputs) and values that
 * were reported already are passed over. No value of a secret field is quoted.
 */
export function explainViolations(
  violations: readonly Violation[],
  value: Json,
  shape: Shape,
): readonly Explained[] {
  const mistyped = new Set(violations.filter(({ keyword }) => keyword === "type").map(({ path }) => path));
  const misspelt = misspeltKeys(violations, value, shape);
  return violations.flatMap((violation) => {
    if (violation.keyword !== "type" && mistyped.has(violation.path)) return [];
    if (
      violation.keyword === "required" &&
      misspelt.has(keyOf(violation.path, violation.params["missingProperty"]))
    )
      return [];
    const path = pathOf(violation.path, value);
    if (path === undefined) return [];
    const explained = explain(violation, path, valueAtPath(value, path), shape);
    return explained === undefined ? [] : [explained];
  });
}

function explain(violation: Violation, path: Path, value: Json, root: Shape): Explained | undefined {
  const shape = shapeAt(root, path) ?? {};
  const { params, propertyName } = violation;
  const say = (code: string, message: string, hint: string): Explained => ({
    path,
    part: "value",
    fault: { code, message, hint },
  });
  const name = dotted(path);
  const shown = shape["x-secret"] === true ? "" : `, and is ${describe(value)}`;
  if (propertyName !== undefined) return badName([...path, propertyName], propertyName, violation);
  switch (violation.keyword) {
    case "type":
      return say("wrong-type", `${name} must be ${typeWords(shape)}${shown}`, typeHint(value, shape));
    case "enum":
      return say(
        "not-allowed",
        `${name} is ${described(value, shape)}, which is not allowed`,
        enumHint(value, shape),
      );
    case "const":
      return say(
        "not-allowed",
        `${name} must be ${JSON.stringify(shape.const)}${shown}`,
        `write ${String(shape.const)}`,
      );
    case "minimum":
      return say("too-small", `${name} must be at least ${String(shape.minimum)}${shown}`, boundsHint(shape));
    case "maximum":
      return say("too-large", `${name} must be at most ${String(shape.maximum)}${shown}`, boundsHint(shape));
    case "minLength":
      return say(
        "too-short",
        `${name} must not be empty`,
        shape.description ?? "write a text, or remove the key",
      );
    case "maxLength":
      return say(
        "too-long",
        `${name} must have at most ${String(shape.maxLength)} characters`,
        shape.description ?? "shorten it",
      );
    case "pattern":
      return say(
        "bad-format",
        `${name} is ${described(value, shape)}, which does not have the right form`,
        patternHint(shape),
      );
    case "minItems":
      return say(
        "too-short",
        `${name} must not be an empty list`,
        shape.description ?? "add an entry, or remove the key",
      );
    case "minProperties":
    case "maxProperties":
      return say(
        "wrong-count",
        `${name} must have exactly one key`,
        listed(Object.keys(shape.properties ?? {}), "one of"),
      );
    case "required":
      return missing(path, String(params["missingProperty"]), shape);
    case "additionalProperties":
      return unknownKey(path, String(params["additionalProperty"]), shape, root);
    default:
      return undefined;
  }
}

/** Keys that are missing because they are there under a wrong spelling. */
function misspeltKeys(violations: readonly Violation[], value: Json, shape: Shape): ReadonlySet<string> {
  const unknown = violations.filter(({ keyword }) => keyword === "additionalProperties");
  const meant = unknown.flatMap(({ path: pointer, params }): readonly string[] => {
    const path = pathOf(pointer, value);
    const fields = path === undefined ? {} : (shapeAt(shape, path)?.properties ?? {});
    const key = String(params["additionalProperty"]);
    const right = wiredAs(key, fields) ?? nearest(key, Object.keys(fields));
    return right === undefined ? [] : [keyOf(pointer, right)];
  });
  return new Set(meant);
}

function keyOf(pointer: string, key: unknown): string {
  return `${pointer} ${String(key)}`;
}

/** The field that the service's own word stands for. */
function wiredAs(word: string, fields: { readonly [name: string]: Shape }): string | undefined {
  return Object.keys(fields).find((name) => fields[name]?.["x-wire"] === word);
}

function badName(path: Path, name: string, violation: Violation): Explained | undefined {
  if (violation.keyword !== "pattern") return undefined;
  const message = `${JSON.stringify(name)} is no name that can be referred to`;
  const hint = "use letters, digits, - and _, beginning with a letter";
  return { path, part: "key", fault: { code: "bad-name", message, hint } };
}

function missing(path: Path, key: string, shape: Shape): Explained {
  const where = path.length === 0 ? "" : ` in ${dotted(path)}`;
  const field = shape.properties?.[key];
  const hint = `add it: ${field?.description ?? key}`;
  return {
    path,
    part: "key",
    fault: { code: "missing-key", message: `${JSON.stringify(key)} is missing${where}`, hint },
  };
}

function unknownKey(path: Path, key: string, shape: Shape, root: Shape): Explained {
  const where = path.length === 0 ? "" : ` in ${dotted(path)}`;
  const message = `unknown key ${JSON.stringify(key)}${where}`;
  const fault: Fault = { code: "unknown-key", message, hint: keyHint(key, shape, root) };
  return { path: [...path, key], part: "key", fault };
}

/** Where a key that is unknown here would be right: spelled otherwise, or in another place. */
function keyHint(key: string, shape: Shape, root: Shape): string {
  const here = Object.keys(shape.properties ?? {});
  const wired = wiredAs(key, shape.properties ?? {});
  if (wired !== undefined) return `write ${wired}: ${key} is the service's own word for it`;
  const elsewhere = [...leafPaths(root).keys()].find((path) => path === key || path.endsWith(`.${key}`));
  if (elsewhere === undefined) return suggest(key, here, "known keys");
  const parent = elsewhere.slice(0, -key.length - 1);
  return parent === "" ? `move it out: it belongs directly to the resource` : `move it under ${parent}`;
}

function typeWords(shape: Shape): string {
  const words: { readonly [type: string]: string } = {
    string: "text",
    number: "a number",
    integer: "a whole number",
    boolean: "true or false",
    object: "a map of keys and values",
    array: "a list",
  };
  const types = shape.type === undefined ? [] : typeof shape.type === "string" ? [shape.type] : shape.type;
  return types.map((type) => words[type] ?? type).join(" or ");
}

function typeHint(value: Json, shape: Shape): string {
  const quotable = typeof value === "number" || typeof value === "boolean";
  if (
    shape.type === "string" &&
    quotable &&
    shape.pattern !== undefined &&
    !new RegExp(shape.pattern, "u").test(String(value))
  ) {
    return patternHint(shape);
  }
  if (shape.type === "string" && quotable) {
    return shape["x-secret"] === true
      ? "put it in quotes"
      : `put it in quotes, as it is to be read: "${String(value)}"`;
  }
  const numeric = shape.type === "integer" || shape.type === "number";
  if (numeric && typeof value === "string" && /^\s*-?[0-9]+(\.[0-9]+)?\s*$/.test(value))
    return "remove the quotes";
  if (shape.type === "boolean" && typeof value === "string") return "write true or false, without quotes";
  if (value === null)
    return `give it a value, or remove the key${shape.type === "object" ? "; {} is an empty map" : ""}`;
  if (numeric) return boundsHint(shape);
  if (shape.enum !== undefined) return listed(shape.enum.map(String));
  return shape.description ?? `write ${typeWords(shape)}`;
}

function enumHint(value: Json, shape: Shape): string {
  return suggest(String(value), (shape.enum ?? []).map(String));
}

function boundsHint(shape: Shape): string {
  if (shape.enum !== undefined) return listed(shape.enum.map(String));
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

function described(value: Json, shape: Shape): string {
  return shape["x-secret"] === true ? "a secret" : describe(value);
}

const longest = 60;

/** A value as a message may show it. */
export function describe(value: Json): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "a map";
  if (typeof value !== "string") return String(value);
  return JSON.stringify(value.length > longest ? `${value.slice(0, longest)}…` : value);
}

/** A path as messages show it: `config.name`, `imports[0].id`. */
export function dotted(path: Path): string {
  const text = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return text.replace(/^\./, "");
}

/** A JSON pointer as a path; undefined where it leads to or through a value that is not known yet. */
function pathOf(pointer: string, root: Json): Path | undefined {
  const path: (string | number)[] = [];
  let value: Json = root;
  for (const raw of pointer.split("/").slice(1)) {
    const key = raw.replaceAll("~1", "/").replaceAll("~0", "~");
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
