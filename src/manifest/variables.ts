/** @module Resolves the values of the variables of a manifest. */
import { isObject, type Json, type JsonObject, own, stableJson } from "../model/json.ts";
import type { Part } from "./locate.ts";
import { reservedKeys } from "./plain-value.ts";
import { describe } from "./problems/describe.ts";
import type { Fault } from "./problems/finding.ts";
import { listed, suggest } from "./problems/nearest.ts";
import type { SecretVariables } from "./secret-variables.ts";
import type { Path } from "./source.ts";
import { holdsUnresolved, mapOf, unresolved } from "./unresolved.ts";

/** Resolved variables. */
export interface Variables {
  /** Variable -> value; `unresolved` where a problem was reported. */
  readonly values: ReadonlyMap<string, Json>;
  /** Their names, for hints. */
  readonly names: readonly string[];
  readonly secret: SecretVariables;
}

/** Values from --var and --var-file, as text. */
export type GivenVariables = { readonly [name: string]: string };

type Report = (path: Path, fault: Fault, part?: Part) => void;

/** The given value, converted to the declared type, otherwise the default. Reports every fault. */
export function resolveVariables(
  section: Json | undefined,
  given: GivenVariables,
  secret: SecretVariables,
  report: Report,
): Variables {
  const declared = mapOf(section);
  const values = new Map<string, Json>();
  for (const [name, declaration] of Object.entries(declared)) {
    const value =
      isObject(declaration) && !holdsUnresolved(declaration)
        ? variableValue(name, declaration, textOf(given, name), secret.part.has(name), report)
        : undefined;
    values.set(name, value ?? unresolved);
  }
  const names = [...values.keys()];
  for (const name of Object.keys(given)) {
    if (values.has(name)) continue;
    const hint = suggest(name, names, "declared");
    report(["variables"], {
      code: "unknown-variable",
      message: `a value is given for the variable "${name}", which is not declared`,
      hint,
    });
  }
  return { values, names, secret };
}

function textOf(given: GivenVariables, name: string): string | undefined {
  return Object.hasOwn(given, name) ? given[name] : undefined;
}

function variableValue(
  name: string,
  declaration: JsonObject,
  text: string | undefined,
  isSecret: boolean,
  report: Report,
): Json | undefined {
  const path: Path = ["variables", name];
  const fallback = declaration["default"];
  const type = typeof declaration["type"] === "string" ? declaration["type"] : typeName(fallback ?? "");
  if (own(typeHints, type) === undefined) return undefined;
  if (text === undefined && fallback === undefined) {
    report(
      path,
      {
        code: "missing-variable",
        message: `the variable "${name}" has no value`,
        hint: `give it with --var ${name}=..., or add a default`,
      },
      "key",
    );
    return undefined;
  }
  const value = text === undefined ? fallback : coerce(text, type);
  const from = text === undefined ? "its default" : "the value given";
  if (value === undefined || typeName(value) !== type) {
    const given = text === undefined ? describe(fallback ?? null) : describe(text);
    const shown = isSecret ? "not one" : given;
    report(text === undefined ? [...path, "default"] : path, {
      code: "wrong-type",
      message: `the variable "${name}" is a ${type}, and ${from} is ${shown}`,
      hint: typeHints[type] ?? "correct the value or the type",
    });
    return undefined;
  }
  if (holdsReference(value) && text === undefined) {
    const hint = "write the value out; only --var and --var-file can change it";
    report([...path, "default"], {
      code: "bad-reference",
      message: `the default of the variable "${name}" contains a reference`,
      hint,
    });
    return undefined;
  }
  return isAllowed(value, declaration["allowed"])
    ? value
    : refuse(name, value, declaration["allowed"], { from, isSecret }, report);
}

function refuse(
  name: string,
  value: Json,
  allowed: Json | undefined,
  { from, isSecret }: { readonly from: string; readonly isSecret: boolean },
  report: Report,
): undefined {
  const texts = Array.isArray(allowed)
    ? allowed.map((item: Json) => (typeof item === "string" ? item : stableJson(item)))
    : [];
  const shown = isSecret ? "this value" : describe(value);
  const message = `${from === "its default" ? "the default of " : ""}variable ${name} cannot be ${shown}`;
  const path = ["variables", name, ...(from === "its default" ? ["default"] : [])];
  const known = typeof value === "string" ? suggest(value, texts) : listed(texts);
  const hint = isSecret ? "give one that the declaration allows" : known;
  report(path, { code: "not-allowed", message, hint });
}

function isAllowed(value: Json, allowed: Json | undefined): boolean {
  if (!Array.isArray(allowed)) return true;
  const wanted = stableJson(value);
  return allowed.some((item: Json) => stableJson(item) === wanted);
}

function coerce(text: string, type: string): Json | undefined {
  switch (type) {
    case "string":
      return text;
    case "number":
      return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;
    case "boolean":
      return text === "true" ? true : text === "false" ? false : undefined;
    default:
      return parseJson(text);
  }
}

function parseJson(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text, (key, inner) => {
      if (key === "__proto__" || reservedKeys.has(key)) throw new SyntaxError("reserved key");
      return inner;
    });
    return value;
  } catch {
    return undefined;
  }
}

function typeName(value: Json): string {
  if (Array.isArray(value)) return "list";
  return isObject(value) ? "map" : typeof value;
}

function holdsReference(value: Json): boolean {
  return stableJson(value).includes("${");
}

const typeHints: { readonly [type: string]: string } = {
  string: "put it in quotes, or correct the type",
  number: "write a number, for example 100",
  boolean: "write true or false",
  list: 'write a list; on the command line as JSON: ["a", "b"]',
  map: 'write a map; on the command line as JSON: {"a": 1}',
};
