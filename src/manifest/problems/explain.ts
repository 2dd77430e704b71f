/** @module Turns schema violations of a manifest into faults with messages and hints. */
import type { Json } from "../../model/json.ts";
import { isObject } from "../../model/json.ts";
import { isSealed, isTemplate } from "../../model/sealed.ts";
import type { Part } from "../locate.ts";
import { type Shape, shapeAt } from "../schema/shape.ts";
import type { Path } from "../source.ts";
import type { Violation } from "../validators.ts";
import { dotted } from "./describe.ts";
import type { Fault } from "./finding.ts";
import { badName, meantKey, missingKey, unknownKey, valueFault } from "./value-fault.ts";

/** The fault of a violation, and the part of the manifest that it is about. */
export interface Explained {
  readonly path: Path;
  readonly part: Part;
  readonly fault: Fault;
}

/**
 * Explains each mistake once. Skips values that are not known yet (secrets, outputs) and values that were reported before.
 * Never quotes the value of a secret field, nor one of `secrets`, which stand in such fields too.
 */
export function explainViolations(
  violations: readonly Violation[],
  value: Json,
  shape: Shape,
  secrets: ReadonlySet<Json> = new Set(),
): readonly Explained[] {
  const found = violations.flatMap((violation): readonly Found[] => {
    const path = pathOf(violation.path, value);
    return path === undefined ? [] : [{ violation, path, shape: shapeAt(shape, path) ?? {} }];
  });
  if (found.length === 0) return [];
  const repeated = repeatedKeys(found);
  return found.flatMap((known) => {
    if (repeated.has(keyOf(known.violation, wordOf(known.violation)))) return [];
    const explained = explain(known, value, shape, secrets);
    return explained === undefined ? [] : [explained];
  });
}

/** A violation of a value that is known, with its path and shape. */
interface Found {
  readonly violation: Violation;
  readonly path: Path;
  readonly shape: Shape;
}

function explain(
  { violation, path, shape }: Found,
  value: Json,
  root: Shape,
  secrets: ReadonlySet<Json>,
): Explained | undefined {
  const { keyword, params, propertyName } = violation;
  if (propertyName !== undefined) {
    if (keyword !== "pattern") return undefined;
    return { path: [...path, propertyName], part: "key", fault: badName(propertyName) };
  }
  if (keyword === "required") {
    return { path, part: "key", fault: missingKey(path, String(params["missingProperty"]), shape) };
  }
  if (keyword === "additionalProperties") {
    const key = String(params["additionalProperty"]);
    return { path: [...path, key], part: "key", fault: unknownKey(path, key, shape, root) };
  }
  const found = valueAtPath(value, path);
  const fault = valueFault(
    keyword,
    dotted(path),
    found,
    secrets.has(found) ? { ...shape, "x-secret": true } : shape,
  );
  return fault === undefined ? undefined : { path, part: "value", fault };
}

/**
 * Keys of violations that repeat another one: the choices of a value of the wrong type, and missing keys that are there
 * under a wrong spelling.
 */
function repeatedKeys(found: readonly Found[]): ReadonlySet<string> {
  const keys = found.flatMap(({ violation, shape }): readonly string[] => {
    if (violation.keyword === "type") return ["enum", "const"].map((keyword) => keyOf(violation, keyword));
    if (violation.keyword !== "additionalProperties") return [];
    const meant = meantKey(String(violation.params["additionalProperty"]), shape);
    return meant === undefined ? [] : [keyOf(violation, `required ${meant}`)];
  });
  return new Set(keys);
}

function wordOf({ keyword, params }: Violation): string {
  return keyword === "required" ? `required ${String(params["missingProperty"])}` : keyword;
}

function keyOf({ path }: Violation, what: string): string {
  return `${path} ${what}`;
}

/** A JSON pointer as a path; undefined where it leads to or through a value that is not known yet. */
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
