/** @module Reads the `outputs` section of a manifest. */
import { formatAddress } from "../model/address.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { DeclaredOutput } from "../model/manifest.ts";
import { isTemplate } from "../model/sealed.ts";
import { describe, type Fault, type Report } from "./problems/fault.ts";
import { suggest } from "./problems/nearest.ts";
import { outputReference, type ResolveContext } from "./resolve-resource.ts";
import { resolveValue } from "./resolve-value.ts";
import { outputShape } from "./schema/document-shape.ts";
import { type OutputExpression, type ScopeRules, scopeOf } from "./scope.ts";
import type { Path } from "./source.ts";
import { mapOf } from "./values.ts";

/** Each output is a value, or { value, sensitive, description }. A secret needs `sensitive: true`. */
export function readOutputs(
  section: Json | undefined,
  context: ResolveContext,
  report: Report,
): { readonly [name: string]: DeclaredOutput } {
  const outputs = Object.entries(mapOf(section)).flatMap(([name, written]): [string, DeclaredOutput][] => {
    const path = ["outputs", name];
    const isLong = isObject(written) && !isTemplate(written);
    if (isLong && !checkShape(written, path, report)) return [];
    const { value = null, sensitive = false } = isLong ? written : { value: written };
    const isSensitive = sensitive === true;
    const scope = scopeOf({
      variables: context.variables,
      secrets: context.secrets,
      sections: context.sections,
      refusesSecret: ({ text }) => (isSensitive ? undefined : notSensitive(text)),
      reference: (expression) => outputReference(expression, context, new Set()),
      referenceAll: (expression) => allReferences(expression, context),
      report: (expression, at, fault) => report.error(at, fault, "value", expression),
    });
    const resolved = resolveValue(value, scope, isLong ? [...path, "value"] : path);
    return [[name, { value: resolved, sensitive: isSensitive, where: report.where(path, "entry") }]];
  });
  return Object.fromEntries(outputs);
}

/** A map of key and output, of every resource of a `forEach`. */
function allReferences(
  expression: OutputExpression,
  context: ResolveContext,
): ReturnType<NonNullable<ScopeRules["referenceAll"]>> {
  const { section, name } = expression.target;
  const block = context.inventory.blocks.get(`${section}.${name}`);
  if (block?.iterations === "single") {
    const message = `${expression.text} is of several, but ${section}.${name} has no forEach`;
    const hint = `write \${${section}.${name}.${expression.output}}`;
    return { fault: { code: "bad-reference", message, hint } };
  }
  const declared = (block?.keys ?? []).filter((key) =>
    context.inventory.members.has(formatAddress({ section, name, key })),
  );
  const values: [string, Json][] = [];
  for (const key of declared.length === 0 && block === undefined ? [""] : declared) {
    const target = block === undefined ? { section, name } : { section, name, key };
    const found = outputReference({ ...expression, target }, context, new Set());
    if (!("$ref" in found)) return { fault: found };
    values.push([key, { $template: [found] }]);
  }
  return { value: Object.fromEntries(values) };
}

function notSensitive(text: string): Fault {
  const hint = "write { value: ..., sensitive: true }, or leave the secret out";
  return { code: "secret-in-clear", message: `${text} would be printed in clear`, hint };
}

/** Reports the faults of the long form of an output; true if it has none. */
function checkShape(output: JsonObject, path: Path, report: Report): boolean {
  const known = Object.keys(outputShape.properties ?? {});
  const name = path.join(".");
  const wrong = Object.keys(output).filter((key) => !known.includes(key));
  for (const key of wrong) {
    const message = `unknown key ${JSON.stringify(key)} in ${name}`;
    const hint = `${suggest(key, known, "known keys")}; a map as a value goes under value`;
    report.error([...path, key], { code: "unknown-key", message, hint }, "key");
  }
  const hasValue = Object.hasOwn(output, "value");
  if (!hasValue) {
    const message = `"value" is missing in ${name}`;
    report.error(path, { code: "missing-key", message, hint: "add it: what the output shows" }, "key");
  }
  const { sensitive = false } = output;
  const isFlag = typeof sensitive === "boolean";
  if (!isFlag) {
    const message = `${name}.sensitive must be true or false, and is ${describe(sensitive)}`;
    const hint = "write true or false, without quotes";
    report.error([...path, "sensitive"], { code: "wrong-type", message, hint });
  }
  return wrong.length === 0 && hasValue && isFlag;
}
