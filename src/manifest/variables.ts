/** @module Resolves the values of the variables of a manifest. */
import { isObject, type Json, type JsonObject, own, stableJson } from "../model/json.ts";
import { reservedKeys } from "./plain-value.ts";
import { describe, listed, type Report, suggest } from "./problems/fault.ts";
import type { SecretVariables } from "./secrets.ts";
import type { Path } from "./source.ts";
import { holdsUnresolved, mapOf, unresolved } from "./values.ts";

export interface Variables {
  /** Variable -> value; `unresolved` if a problem was reported. */
  readonly values: ReadonlyMap<string, Json>;
  readonly names: readonly string[];
  readonly secret: SecretVariables;
}

/** Values from --var and --var-file, as text. */
export type GivenVariables = { readonly [name: string]: string };

/** The given value, converted to the declared type, otherwise the default. Reports every fault. */
export function resolveVariables(
  section: Json | undefined,
  given: GivenVariables,
  secret: SecretVariables,
  report: Report["error"],
): Variables {
  const declared = mapOf(section);
  const values = new Map<string, Json>();
  for (const [name, declaration] of Object.entries(declared)) {
    const value =
      isObject(declaration) && !holdsUnresolved(declaration)
        ? variableValue(name, declaration, own(given, name), secret.part.has(name), report)
        : undefined;
    values.set(name, value ?? unresolved);
  }
  const names = [...values.keys()];
  for (const name of Object.keys(given)) {
    if (values.has(name)) continue;
    const message = `a value is given for the variable "${name}", which is not declared`;
    const hint = suggest(name, names, "declared");
    report(["variables"], { code: "unknown-variable", message, hint });
  }
  return { values, names, secret };
}

function variableValue(
  name: string,
  declaration: JsonObject,
  text: string | undefined,
  isSecret: boolean,
  report: Report["error"],
): Json | undefined {
  const path: Path = ["variables", name];
  const { default: fallback, allowed } = declaration;
  const type = typeof declaration["type"] === "string" ? declaration["type"] : typeName(fallback ?? "");
  const typeHint = own(typeHints, type);
  if (typeHint === undefined) return undefined;
  if (text === undefined && fallback === undefined) {
    const hint = `give it with --var ${name}=..., or add a default`;
    const message = `the variable "${name}" has no value`;
    report(path, { code: "missing-variable", message, hint }, "key");
    return undefined;
  }
  const isGiven = text !== undefined;
  const at = isGiven ? path : [...path, "default"];
  const value = isGiven ? coerce(text, type) : fallback;
  if (value === undefined || typeName(value) !== type) {
    const shown = isSecret ? "not one" : describe(text ?? fallback ?? null);
    const from = isGiven ? "the value given" : "its default";
    const message = `the variable "${name}" is a ${type}, and ${from} is ${shown}`;
    report(at, { code: "wrong-type", message, hint: typeHint });
    return undefined;
  }
  if (!isGiven && stableJson(value).includes("${")) {
    const hint = "write the value out; only --var and --var-file can change it";
    const message = `the default of the variable "${name}" contains a reference`;
    report(at, { code: "bad-reference", message, hint });
    return undefined;
  }
  const wanted = stableJson(value);
  if (!Array.isArray(allowed) || allowed.some((item: Json) => stableJson(item) === wanted)) return value;
  const texts = allowed.map((item: Json) => (typeof item === "string" ? item : stableJson(item)));
  const shown = isSecret ? "this value" : describe(value);
  const message = `${isGiven ? "" : "the default of "}variable ${name} cannot be ${shown}`;
  const known = typeof value === "string" ? suggest(value, texts) : listed(texts);
  const hint = isSecret ? "give one that the declaration allows" : known;
  report(at, { code: "not-allowed", message, hint });
  return undefined;
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

const typeHints: { readonly [type: string]: string } = {
  string: "put it in quotes, or correct the type",
  number: "write a number, for example 100",
  boolean: "write true or false",
  list: 'write a list; on the command line as JSON: ["a", "b"]',
  map: 'write a map; on the command line as JSON: {"a": 1}',
};
