/** @module Reads the `outputs` section of a manifest. */
import { formatAddress } from "../model/address.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { DeclaredOutput } from "../model/manifest.ts";
import type { SourceRange } from "../model/problem.ts";
import { isTemplate } from "../model/sealed.ts";
import type { Expression } from "./expression.ts";
import type { Part } from "./locate.ts";
import { describe } from "./problems/describe.ts";
import type { Fault } from "./problems/finding.ts";
import { suggest } from "./problems/nearest.ts";
import { outputReference, type ResolveContext } from "./resolve-resource.ts";
import { resolveValue } from "./resolve-value.ts";
import { outputShape } from "./schema/document-shape.ts";
import { type OutputExpression, scopeOf } from "./scope.ts";
import type { Path } from "./source.ts";
import { mapOf } from "./unresolved.ts";

/** Inputs of `readOutputs`. */
export interface OutputInputs {
  readonly context: ResolveContext;
  where(path: Path): SourceRange;
  report(path: Path, fault: Fault, part?: Part, expression?: Expression): void;
}

/** Each output is a value, or { value, sensitive, description }. A secret needs `sensitive: true`. */
export function readOutputs(
  section: Json | undefined,
  inputs: OutputInputs,
): { readonly [name: string]: DeclaredOutput } {
  const written = mapOf(section);
  return Object.fromEntries(
    Object.entries(written).flatMap(([name, value]): readonly [string, DeclaredOutput][] => {
      const path = ["outputs", name];
      if (!isObject(value) || isTemplate(value)) return [[name, readOne(value, false, path, path, inputs)]];
      return checkShape(value, path, inputs)
        ? [
            [
              name,
              readOne(value["value"] ?? null, value["sensitive"] === true, [...path, "value"], path, inputs),
            ],
          ]
        : [];
    }),
  );
}

function readOne(
  value: Json,
  sensitive: boolean,
  path: Path,
  entry: Path,
  inputs: OutputInputs,
): DeclaredOutput {
  const { context } = inputs;
  const scope = scopeOf({
    variables: context.variables,
    secrets: context.secrets,
    sections: context.kinds.all.map(({ name }) => name),
    refusesSecret: ({ text }) =>
      sensitive ? undefined : { ...notSensitive, message: `${text} would be printed in clear` },
    reference: (expression) => outputReference(expression, context, new Set()),
    referenceAll: (expression) => allReferences(expression, context),
    report: (expression, at, fault) => inputs.report(at, fault, "value", expression),
  });
  return { value: resolveValue(value, scope, path), sensitive, where: inputs.where(entry) };
}

/** A map of key and output, of every resource of a `forEach`. */
function allReferences(
  expression: OutputExpression,
  context: ResolveContext,
): { readonly value: JsonObject } | { readonly fault: Fault } {
  const { section, name } = expression.target;
  const block = context.inventory.blocks.get(`${section}.${name}`);
  if (block?.iterations === "single") {
    const message = `${expression.text} is of several, but ${section}.${name} has no forEach`;
    const hint = `write \${${section}.${name}.${expression.output}}`;
    return { fault: { code: "bad-reference", message, hint } };
  }
  const keys = typeof block?.iterations === "object" ? block.iterations.map(({ key }) => key) : [];
  const declared = keys.filter((key) => context.inventory.members.has(formatAddress({ section, name, key })));
  const values: [string, Json][] = [];
  for (const key of declared.length === 0 && block === undefined ? [""] : declared) {
    const target = block === undefined ? { section, name } : { section, name, key };
    const found = outputReference({ ...expression, target }, context, new Set());
    if (!("$ref" in found)) return { fault: found };
    values.push([key, { $template: [found] }]);
  }
  return { value: Object.fromEntries(values) };
}

const notSensitive: Omit<Fault, "message"> = {
  code: "secret-in-clear",
  hint: "write { value: ..., sensitive: true }, or leave the secret out",
};

function checkShape(output: JsonObject, path: Path, inputs: OutputInputs): boolean {
  const known = Object.keys(outputShape.properties ?? {});
  let good = true;
  const reportAt = (at: Path, part: Part, fault: Fault): void => {
    good = false;
    inputs.report(at, fault, part);
  };
  for (const key of Object.keys(output)) {
    if (known.includes(key)) continue;
    const message = `unknown key ${JSON.stringify(key)} in ${path.join(".")}`;
    reportAt([...path, key], "key", {
      code: "unknown-key",
      message,
      hint: `${suggest(key, known, "known keys")}; a map as a value goes under value`,
    });
  }
  if (!Object.hasOwn(output, "value")) {
    reportAt(path, "key", {
      code: "missing-key",
      message: `"value" is missing in ${path.join(".")}`,
      hint: "add it: what the output shows",
    });
  }
  const sensitive = output["sensitive"] ?? false;
  if (typeof sensitive !== "boolean") {
    const message = `${path.join(".")}.sensitive must be true or false, and is ${describe(sensitive)}`;
    reportAt([...path, "sensitive"], "value", {
      code: "wrong-type",
      message,
      hint: "write true or false, without quotes",
    });
  }
  return good;
}
