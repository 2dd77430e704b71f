/** @module Reads a manifest up to its resources and outputs: variables are filled in, the rest is validated. */

import type { Json, JsonObject } from "../model/json.ts";
import type { Finding, KindRegistry } from "../model/kind.ts";
import type { Expression } from "./expression.ts";
import { nearestSpan, type Part, rangeOf, within } from "./locate.ts";
import { explainViolations } from "./problems/explain.ts";
import { errorAt, type Fault } from "./problems/finding.ts";
import { plainFields, shownSection } from "./problems/plain-fields.ts";
import { holdsCredential, stateFaults } from "./problems/state-faults.ts";
import { resolveValue, type Scope } from "./resolve-value.ts";
import { documentShape } from "./schema/document-shape.ts";
import { scopeOf } from "./scope.ts";
import { secretVariables } from "./secret-variables.ts";
import type { Parsed, Path } from "./source.ts";
import { holdsUnresolved } from "./unresolved.ts";
import type { Validators } from "./validators.ts";
import { type GivenVariables, resolveVariables, type Variables } from "./variables.ts";

/** Inputs of `readManifestHead`. */
export interface HeadInputs {
  readonly kinds: KindRegistry;
  readonly validators: Validators;
  /** From --var and --var-file, as text; coerced to the declared types. */
  readonly variables: GivenVariables;
}

/** A manifest whose resources and outputs are still as written. */
export interface ManifestHead {
  readonly value: JsonObject;
  readonly variables: Variables;
  /** Top-level keys with an error. */
  readonly broken: ReadonlySet<string>;
  readonly findings: readonly Finding[];
}

const written = new Set(["$schema", "variables", "defaults", "outputs"]);

/** Resolves the variables, fills them in and validates the result. Collects findings; never throws. */
export function readManifestHead(parsed: Parsed, manifest: JsonObject, inputs: HeadInputs): ManifestHead {
  const findings: Finding[] = [];
  const broken = new Set<string>();
  const report = (path: Path, fault: Fault, part: Part = "value", expression?: Expression): void => {
    const span = nearestSpan(parsed.layers, path, part);
    const exact = span === undefined || expression === undefined ? span : within(span, expression.text);
    findings.push(errorAt(rangeOf(exact), fault));
    broken.add(String(path[0] ?? ""));
  };
  const secret = secretVariables(manifest, inputs.kinds.all);
  const variables = resolveVariables(manifest["variables"], inputs.variables, secret, report);
  const sections = inputs.kinds.all.map((kind) => kind.name);
  const strict = scopeOf({
    variables,
    sections,
    refusesSecret: (expression) => ({
      ...noSecretHere,
      message: `${expression.text} would be shown in clear here`,
    }),
    reference: (expression) => ({
      ...noOutputHere,
      message: `${expression.text} is known only after an apply, and is needed before`,
    }),
    report: (expression, path, fault) => report(path, fault, "value", expression),
  });
  const scope: Scope = {
    ...strict,
    // A secret for each entry is read where it is used.
    each: (expression, path) =>
      path[0] === "secrets" && expression.keys[0] === "key" ? expression.text : strict.each(expression, path),
  };
  const raw = new Set([...written, ...sections]);
  const entries = Object.entries(manifest).map(([key, value]): [string, Json] => [
    key,
    raw.has(key) ? value : resolveValue(value, scope, [key]),
  ]);
  for (const [key, resolved] of entries) if (!raw.has(key) && holdsUnresolved(resolved)) broken.add(key);
  const value: JsonObject = Object.fromEntries(entries);
  const shape = documentShape(inputs.kinds.all);
  const shownAt = plainFields(manifest, inputs.kinds.all);
  const violations = inputs.validators.document(value);
  const hidden = violations.length > 0 ? ["state", "service"] : [];
  const shown = Object.fromEntries(
    entries.map(([key, part]) => [key, hidden.includes(key) ? shownSection(part, [key], shownAt) : part]),
  );
  for (const { path, part, fault } of explainViolations(violations, shown, shape)) {
    if (path[0] === "state" && holdsCredential(String(path[1]))) continue;
    report(path, fault, part);
    if (path.length === 0)
      for (const key of shape.required ?? []) if (!Object.hasOwn(value, key)) broken.add(key);
  }
  for (const { path, part, fault } of stateFaults(value["state"])) report(path, fault, part);
  return { value, variables, broken, findings };
}

const noSecretHere: Omit<Fault, "message"> = {
  code: "secret-in-clear",
  hint: "use a variable and set it with --var, or write the value out",
};

const noOutputHere: Omit<Fault, "message"> = {
  code: "bad-reference",
  hint: "use a variable, or write the value out",
};
