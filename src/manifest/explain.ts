import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import { isSealed, isTemplate } from "../model/sealed.ts";
import { dotted } from "./describe.ts";
import type { Fault } from "./finding.ts";
import { badName, meantKey, missingKey, unknownKey } from "./key-fault.ts";
import type { Part } from "./locate.ts";
import { type Shape, shapeAt } from "./shape.ts";
import type { Path } from "./source.ts";
import type { Violation } from "./validators.ts";
import { valueFault } from "./value-fault.ts";

/** A violation in words, and which part of the manifest it points at. */
export interface Explained {
  readonly path: Path;
  readonly part: Part;
  readonly fault: Fault;
}

/**
 * A validator's violations in people's words, each mistake once. Values that are not known yet (secrets, outputs)
 * and values that were reported already are passed over. No value of a secret field is quoted.
 */
export function explainViolations(
  violations: readonly Violation[],
  value: Json,
  shape: Shape,
): readonly Explained[] {
  const found = violations.flatMap((violation): readonly Found[] => {
    const path = pathOf(violation.path, value);
    return path === undefined ? [] : [{ violation, path, shape: shapeAt(shape, path) ?? {} }];
  });
  if (found.length === 0) return [];
  const echoes = echoKeys(found);
  return found.flatMap((each) => {
    if (echoes.has(keyOf(each.violation, echoed(each.violation)))) return [];
    const explained = explain(each, value, shape);
    return explained === undefined ? [] : [explained];
  });
}

/** A violation at a value that is known. */
interface Found {
  readonly violation: Violation;
  readonly path: Path;
  readonly shape: Shape;
}

function explain({ violation, path, shape }: Found, value: Json, root: Shape): Explained | undefined {
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
  const fault = valueFault(keyword, dotted(path), valueAtPath(value, path), shape);
  return fault === undefined ? undefined : { path, part: "value", fault };
}

/**
 * What would be said twice: choices of a value that is of the wrong type, and keys that are missing because they
 * are there under a wrong spelling.
 */
function echoKeys(found: readonly Found[]): ReadonlySet<string> {
  const keys = found.flatMap(({ violation, shape }): readonly string[] => {
    if (violation.keyword === "type") return ["enum", "const"].map((keyword) => keyOf(violation, keyword));
    if (violation.keyword !== "additionalProperties") return [];
    const meant = meantKey(String(violation.params["additionalProperty"]), shape);
    return meant === undefined ? [] : [keyOf(violation, `required ${meant}`)];
  });
  return new Set(keys);
}

function echoed({ keyword, params }: Violation): string {
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
