/** @module Resolves and checks a parsed manifest, and reads its outputs. */
import { formatAddress } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import type { Problem } from "../model/errors.ts";
import { disruptions } from "../model/field-schema.ts";
import { defined, isObject, type Json, type JsonObject } from "../model/json.ts";
import type { Finding } from "../model/kind.ts";
import type { DeclaredOutput, Guards, Manifest } from "../model/manifest.ts";
import { isTemplate } from "../model/sealed.ts";
import type { Profile } from "../model/service.ts";
import { hasPassword } from "../model/userinfo.ts";
import { readBindings } from "./bindings.ts";
import { buildInventory, type Inventory, type Member } from "./declared-resources.ts";
import { type HeadInputs, readHead } from "./header.ts";
import { finishProblems } from "./problems/excerpt.ts";
import { describe, dotted, type Fault, type Report, reportTo, suggest } from "./problems/fault.ts";
import { outputReference, type ResolveContext, readLeftOut, resolveResource } from "./resolve-resource.ts";
import { resolveValue } from "./resolve-value.ts";
import { findCycles, runRules, unusedDefaultsFaults } from "./rules.ts";
import { outputShape } from "./schema/document-shape.ts";
import { type OutputExpression, type ScopeRules, scopeOf } from "./scope.ts";
import { readSecrets, type SecretInputs } from "./secrets.ts";
import type { Parsed, Path } from "./source.ts";
import { mapOf, textsIn } from "./values.ts";

export interface ManifestInputs extends HeadInputs, SecretInputs {
  readonly profile: Profile;
  /** ISO date. A `removed` entry whose `until` is before it is a warning. */
  readonly today: string;
}

export interface Resolution {
  readonly manifest?: Manifest;
  /** Errors, sorted by place. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Collects all problems at once. Never throws for a mistake in the manifest. */
export async function resolveManifest(parsed: Parsed, inputs: ManifestInputs): Promise<Resolution> {
  if (parsed.value === undefined) return finish(parsed, inputs, parsed.findings);
  const { kinds, validators } = inputs;
  const { layers } = parsed;
  const { value, header, variables, ...head } = readHead(parsed, parsed.value, inputs);
  const findings: Finding[] = [...parsed.findings, ...head.findings];
  const report = reportTo(findings, layers);
  const sections = kinds.all.map((kind) => kind.name);
  const inventory = buildInventory(parsed.value, kinds.all, variables, report);
  const secrets = await readSecrets(
    partsWithSecrets(parsed.value, sections, inventory),
    value["secrets"],
    inputs,
    report,
    (path) => keysAt(path, inventory),
  );
  const { namePrefix } = value;
  const context: ResolveContext = {
    ...{ parsed, kinds, sections, validators, inventory, variables, secrets },
    limits: inputs.limits,
    namePrefix: typeof namePrefix === "string" ? namePrefix : "",
  };
  const resources = [...inventory.members.values()].map((member) => resolveResource(member, context));
  const desired = resources.map((resource) => resource.desired);
  for (const { path, part, fault } of unusedDefaultsFaults(parsed.value, context))
    report.error(path, fault, part);
  const outputs = readOutputs(value["outputs"], context, report);
  const bindings = readBindings(value, desired, { inventory, sections, today: inputs.today, report });
  const leftOut = [...inventory.leftOut.values()].map((member) => readLeftOut(member, context));
  const announced = new Set(bindings.removed.map(({ address }) => address));
  const removed = [
    ...bindings.removed,
    ...leftOut.map(({ removal }) => removal).filter(({ address }) => !announced.has(address)),
  ];
  const ids = new Map(bindings.imports.map(({ address, id }) => [address, id]));
  const bound = desired.map((resource) => {
    const importId = ids.get(resource.address);
    return importId === undefined ? resource : { ...resource, importId };
  });
  const written = Object.entries(parsed.value).flatMap(([key, part]) =>
    // These two refuse a password by themselves.
    key === "state" || key === "service" ? [] : textsIn(part, hasPassword, [key]),
  );
  for (const { path } of written) report.warning(path, passwordInAddress(path));
  warnOfFilledIn(desired, new Set(written.map(({ text }) => text)), context, findings);
  const found = [...resources, ...leftOut].flatMap((resource) => resource.findings);
  const all = [...findings, ...runRules(bound, found, context, inputs.profile), ...findCycles(bound)];

  const finished = finish(parsed, inputs, all);
  if (finished.problems.length > 0 || header === undefined) return finished;
  const guards = guardsOf(mapOf(value["guards"]));
  const { warnings } = finished;
  return {
    ...finished,
    manifest: { ...header, desired: bound, outputs, ...bindings, removed, guards, warnings },
  };
}

function finish(parsed: Parsed, inputs: ManifestInputs, findings: readonly Finding[]): Resolution {
  const { all } = inputs.kinds;
  return {
    problems: finishProblems(findings, "error", parsed, all),
    warnings: finishProblems(findings, "warning", parsed, all),
  };
}

/** The keys of the `forEach` that a path stands in; of all of a section for its defaults. */
function keysAt([first, second]: Path, { members }: Inventory): readonly string[] {
  const isIn = ({ block: { kind, name } }: Member): boolean =>
    first === "defaults" ? kind.name === second : kind.name === first && name === second;
  return [...members.values()].flatMap((member) =>
    member.each !== undefined && isIn(member) ? [member.each.key] : [],
  );
}

/** The parts that may use secrets, without those that the options leave out. */
function partsWithSecrets(
  manifest: JsonObject,
  sections: readonly string[],
  { members, leftOut }: Inventory,
): JsonObject {
  const used = new Set([...members.values()].map(({ block }) => block));
  const unused = new Set([...leftOut.values()].flatMap(({ block }) => (used.has(block) ? [] : [block])));
  const named = new Set([...unused].map(({ kind, name }) => `${kind.name}.${name}`));
  return Object.fromEntries(
    Object.entries(manifest).flatMap(([key, value]): [string, Json][] => {
      if (key === "defaults" || key === "outputs") return [[key, value]];
      if (!sections.includes(key)) return [];
      const blocks = Object.entries(mapOf(value)).filter(([name]) => !named.has(`${key}.${name}`));
      return [[key, Object.fromEntries(blocks)]];
    }),
  );
}

/** Warns of addresses that have their password from a variable: `written` has those that stand in the manifest as a whole. */
function warnOfFilledIn(
  all: readonly Desired[],
  written: ReadonlySet<string>,
  { parsed, inventory }: ResolveContext,
  findings: Finding[],
): void {
  for (const { address, spec } of all) {
    for (const { path } of textsIn(spec, (text) => hasPassword(text) && !written.has(text))) {
      const [field = "", ...rest] = path;
      const within = [...String(field).split("."), ...rest];
      const report = reportTo(findings, parsed.layers, inventory.members.get(address)?.block);
      report.warning(within, passwordInAddress([address, ...within]));
    }
  }
}

function passwordInAddress(path: Path): Fault {
  return {
    code: "password-in-address",
    message: `${dotted(path)} is an address with a password: everybody who can read this value can read it`,
    hint: "take it out of the address; reports hide it, and the service stores it as it stands",
  };
}

function guardsOf({ maxDeletes, maxChangePercent, maxDisruption }: JsonObject): Guards {
  const worst = disruptions.find((disruption) => disruption === maxDisruption);
  return {
    ...(typeof maxDeletes === "number" ? { maxDeletes } : {}),
    ...(typeof maxChangePercent === "number" ? { maxChangePercent } : {}),
    ...defined({ maxDisruption: worst }),
  };
}

/** Each output is a value, or { value, sensitive, description }. A secret needs `sensitive: true`. */
function readOutputs(
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
      ...context,
      refusesSecret: ({ text }) => {
        const hint = "write { value: ..., sensitive: true }, or leave the secret out";
        const message = `${text} would be printed in clear`;
        return isSensitive ? undefined : { code: "secret-in-clear", message, hint };
      },
      reference: (expression) => outputReference(expression, context, new Set()),
      referenceAll: (expression) => allReferences(expression, context),
      report: (expression, at, fault) => report.error(at, fault, "value", expression),
    });
    const resolved = resolveValue(value, scope, isLong ? [...path, "value"] : path);
    return [[name, { value: resolved, sensitive: isSensitive, where: report.where(path, "entry") }]];
  });
  return Object.fromEntries(outputs);
}

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
