/** @module Fills in the `${...}` expressions of a value. */
import { isObject, type Json, type JsonObject } from "../model/json.ts";
import {
  isReference,
  isSealed,
  isTemplate,
  type Sealed,
  type Template,
  type TemplatePart,
} from "../model/sealed.ts";
import { type Expression, mayHoldExpression, textParts } from "./expression.ts";
import type { Fault } from "./problems/fault.ts";
import type { SecretExpression } from "./secrets.ts";
import type { Path } from "./source.ts";
import { unresolved } from "./values.ts";

/** The names that one place of the manifest may use. Each function returns a value, or `unresolved` after a report. */
export interface Scope {
  variable(expression: Expression & { scope: "variable" }, path: Path): Json;
  each(expression: Expression & { scope: "each" }, path: Path): Json;
  secret(expression: SecretExpression, path: Path): Sealed | Template;
  output(expression: Expression & { scope: "output" }, path: Path): Json;
  /** Seals a text made of literals and secrets as one secret. */
  sealWhole(parts: readonly (string | Sealed)[], path: Path): Sealed;
  report(expression: Expression, path: Path, fault: Fault): void;
}

/** Returns the same object if it contains no expression. */
export function resolveValue(value: Json, scope: Scope, path: Path = []): Json {
  if (typeof value === "string") return mayHoldExpression(value) ? resolveText(value, scope, path) : value;
  if (!Array.isArray(value)) return isObject(value) ? resolveMap(value, scope, path) : value;
  const resolved = value.map((item: Json, index) => resolveValue(item, scope, [...path, index]));
  return resolved.some((item, index) => item !== value[index]) ? resolved : value;
}

export function resolveMap(value: JsonObject, scope: Scope, path: Path = []): JsonObject {
  let changed: Record<string, Json> | undefined;
  for (const key of Object.keys(value)) {
    const before = value[key] ?? null;
    if (typeof before !== "object" && (typeof before !== "string" || !mayHoldExpression(before))) continue;
    const after = resolveValue(before, scope, [...path, key]);
    if (after === before) continue;
    changed ??= { ...value };
    changed[key] = after;
  }
  return changed ?? value;
}

function resolveText(text: string, scope: Scope, path: Path): Json {
  const parts = textParts(text);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) {
    const value = typeof only === "string" ? only : evaluate(only, scope, path);
    return isReference(value) ? { $template: [value] } : value;
  }
  const pieces: TemplatePart[] = [];
  let failed = false;
  for (const part of parts) {
    const piece = typeof part === "string" ? part : pieceOf(part, scope, path);
    if (piece === undefined) failed = true;
    else pieces.push(piece);
  }
  return failed ? unresolved : join(pieces, scope, path);
}

function evaluate(expression: Expression, scope: Scope, path: Path): Json {
  switch (expression.scope) {
    case "variable":
      return scope.variable(expression, path);
    case "each":
      return scope.each(expression, path);
    case "secret":
    case "environment":
      return scope.secret(expression, path);
    case "output":
      return scope.output(expression, path);
    case "none":
      scope.report(expression, path, expression.fault);
      return unresolved;
  }
}

function pieceOf(expression: Expression, scope: Scope, path: Path): TemplatePart | undefined {
  const value = evaluate(expression, scope, path);
  if (isSealed(value) || isReference(value)) return value;
  if (isTemplate(value)) return undefined;
  if (typeof value === "object" && value !== null) {
    const what = Array.isArray(value) ? "list" : "map";
    const hint = `let ${expression.text} be the whole value, or name a part of it`;
    const message = `${expression.text} is a ${what} and cannot stand inside text`;
    scope.report(expression, path, { code: "bad-reference", message, hint });
    return undefined;
  }
  return value === null ? "" : String(value);
}

function join(pieces: readonly TemplatePart[], scope: Scope, path: Path): Json {
  if (pieces.some(isReference)) return { $template: pieces };
  const texts = pieces.filter((piece) => typeof piece === "string");
  if (texts.length === pieces.length) return texts.join("");
  return scope.sealWhole(
    pieces.filter((piece) => typeof piece === "string" || isSealed(piece)),
    path,
  );
}
