/** @module Resolves and checks one resource of a manifest, with its lifecycle and timeouts. */
import type { Address } from "../model/address.ts";
import type { Desired, Lifecycle, MigrationRules, Timeouts } from "../model/desired.ts";
import { fieldRows, type KindSchema } from "../model/field-schema.ts";
import { defined, isObject, type Json, type JsonObject } from "../model/json.ts";
import type { Finding, Kind } from "../model/kind.ts";
import type { Removal } from "../model/manifest.ts";
import { perObject } from "../model/once.ts";
import { parseDuration } from "../model/quantity.ts";
import { isTemplate, type Reference } from "../model/sealed.ts";
import { flatten } from "../model/spec.ts";
import type { Inventory, Member } from "./declared-resources.ts";
import type { HeadInputs } from "./header.ts";
import { allowedCommand } from "./limits.ts";
import { blockRange } from "./locate.ts";
import { explainViolations } from "./problems/explain-violation.ts";
import { type Fault, listed, type Report, reportTo, suggest } from "./problems/fault.ts";
import { findReferent, findReferents, namedReferences } from "./referent.ts";
import { resolveMap, resolveValue, type Scope } from "./resolve-value.ts";
import { resourceShape, secretPaths } from "./schema/shape.ts";
import { type OutputExpression, scopeOf } from "./scope.ts";
import { sealFields, secretPartsOf } from "./seal-fields.ts";
import { type Secrets, textOn } from "./secrets.ts";
import type { Parsed, Path } from "./source.ts";
import { mapOf, textsOf } from "./values.ts";
import type { Variables } from "./variables.ts";

export interface ResolveContext extends Pick<HeadInputs, "kinds" | "validators" | "limits"> {
  readonly parsed: Parsed;
  readonly sections: readonly string[];
  readonly inventory: Inventory;
  readonly variables: Variables;
  readonly secrets: Secrets;
  /** Stands before the names of objects at the service. */
  readonly namePrefix: string;
}

/** A resource and its findings. Parts with an error stay as written. */
export interface ResolvedResource {
  readonly desired: Desired;
  readonly findings: readonly Finding[];
}

/** Fills in references, validates, seals secrets and collects the addresses that the resource depends on. */
export function resolveResource(member: Member, context: ResolveContext): ResolvedResource {
  const { block, address } = member;
  const { kind } = block;
  const { schema } = kind;
  const findings: Finding[] = [];
  const report = reportTo(findings, context.parsed.layers, block, address);

  const refs = new Set<Address>();
  const scope = memberScope(member, context, refs, report);
  const resolved = withNamePrefix(resolveMap(block.body, scope), schema, context.namePrefix);

  const violations = context.validators.resources[kind.name]?.(resolved) ?? [];
  if (violations.length > 0) {
    const secrets = new Set([...secretPaths(schema)].flatMap((path) => textOn(resolved, path)?.text ?? []));
    const explained = explainViolations(violations, resolved, resourceShape(schema), secrets);
    for (const { path, part, fault } of explained) report.error(path, fault, part);
  }

  const { lifecycle, timeouts, ...written } = resolved;
  const spec = flatten(written);
  const wanted = lifecycleOf(lifecycle, kind, context, report);
  const named = namedReferences(spec, schema, context.inventory, report);
  for (const [path, address] of named) {
    refs.add(address);
    spec[path] = address.slice(address.indexOf(".") + 1);
  }
  for (const reference of wanted.dependsOn) refs.add(reference);
  for (const [name, value] of operatedDefaults(schema)) spec[name] ??= value;
  sealFields(spec, member, context.secrets, report);
  const id = schema.properties["id"]?.["x-place"] === true ? spec["id"] : undefined;
  const desired: Desired = {
    address,
    kind: kind.name,
    spec,
    refs: [...refs],
    where: blockRange(context.parsed.layers, block),
    lifecycle: wanted,
    timeouts: timeoutsOf(timeouts),
    ...(typeof id === "string" ? { importId: id } : {}),
  };
  return { desired, findings };
}

/** The defaults of fields that operations set. */
const operatedDefaults = perObject(({ properties }: KindSchema) =>
  Object.entries(properties).flatMap(([name, { "x-operations": verbs, default: value }]): [string, Json][] =>
    verbs === undefined || value === undefined ? [] : [[name, value]],
  ),
);

/** The resource with the prefix before its name at the service. An existing object that it names by its id keeps its name. */
function withNamePrefix(resolved: JsonObject, schema: KindSchema, prefix: string): JsonObject {
  if (prefix === "" || resolved["id"] !== undefined) return resolved;
  const named = [...fieldRows(schema)].filter(([, field]) => field["x-identity"] === true);
  return named.reduce((value, [path]) => prefixed(value, path.split("."), prefix), resolved);
}

function prefixed(map: JsonObject, [key = "", ...rest]: readonly string[], prefix: string): JsonObject {
  const value = map[key];
  if (typeof value === "string") return { ...map, [key]: prefix + value };
  if (isTemplate(value)) return { ...map, [key]: { $template: [prefix, ...value.$template] } };
  return rest.length > 0 && isObject(value) ? { ...map, [key]: prefixed(value, rest, prefix) } : map;
}

export function readLeftOut(
  member: Member,
  context: ResolveContext,
): { readonly removal: Removal; readonly findings: readonly Finding[] } {
  const { block, address } = member;
  const findings: Finding[] = [];
  const report = reportTo(findings, context.parsed.layers, block, address);
  const scope = memberScope(member, context, new Set(), report);
  const { lifecycle = {} } = block.body;
  const { dependsOn: _, ...guards } = mapOf(resolveValue(lifecycle, scope, ["lifecycle"]));
  const removal: Removal = {
    address,
    destroy: true,
    reason: "left out: its enabled is false",
    where: report.where([], "entry"),
    lifecycle: lifecycleOf(guards, block.kind, context, report),
  };
  return { removal, findings };
}

/** The scope of the expressions of a resource; `refs` gets the addresses that it refers to. */
function memberScope(member: Member, context: ResolveContext, refs: Set<Address>, report: Report): Scope {
  const { kind } = member.block;
  return scopeOf({
    ...context,
    label: member.address,
    ...(member.each === undefined ? {} : { each: member.each, secretParts: secretPartsOf(member) }),
    refusesSecret: ({ text }, path) => {
      const paths = secretPaths(kind.schema);
      if (paths.has(path.join("."))) return undefined;
      const fields = paths.size === 0 ? "no field" : [...paths].join(", ");
      const hint = `use a variable here; a secret may stand in ${fields} of this ${kind.noun}`;
      const message = `${text} would be stored and shown in clear in ${path.join(".")}`;
      return { code: "secret-in-clear", message, hint };
    },
    reference: (expression, path) =>
      fieldFault(kind, expression, path) ?? outputReference(expression, context, refs),
    report: (expression, path, fault) => report.error(path, fault, "value", expression),
  });
}

/** The fault of an output in a field that must be known before an apply; undefined if it may be there. */
function fieldFault(kind: Kind, expression: OutputExpression, path: Path): Fault | undefined {
  const field = fieldRows(kind.schema).get(path.join("."));
  const early = field === undefined || field["x-place"] || field["x-operations"] !== undefined;
  const reference = field?.["x-reference"];
  if (early !== true && reference === undefined) return undefined;
  const message = `${expression.text} is known only after an apply, and ${path.join(".")} is needed before`;
  const { name, key } = expression.target;
  const named = key === undefined ? name : `${name}[${JSON.stringify(key)}]`;
  const hint =
    reference?.section === expression.target.section
      ? `write the name alone: ${named}`
      : "use a variable, or write the value out";
  return { code: "bad-reference", message, hint };
}

/** Makes the reference to an output and adds its resource to `refs`; a fault if there is no such output. */
export function outputReference(
  expression: OutputExpression,
  context: Pick<ResolveContext, "kinds" | "inventory">,
  refs: Set<Address>,
): Reference | Fault {
  const { target, output, text } = expression;
  const kind = context.kinds.find(target.section);
  const found = findReferent(context.inventory, target);
  if ("fault" in found) return found.fault;
  if (kind !== undefined && output === "") {
    const hint = listed(kind.outputs, `write ${text.slice(2, -1).trim()}. and one of`);
    return { code: "unknown-output", message: `${text} names no output`, hint };
  }
  if (kind !== undefined && !kind.outputs.includes(output)) {
    const hint = suggest(output, kind.outputs, "outputs");
    return { code: "unknown-output", message: `${text}: ${kind.name} have no output "${output}"`, hint };
  }
  refs.add(found.address);
  return { $ref: `${found.address}.${output}` };
}

/** Values of the wrong type count as left out: validation has reported them. */
function lifecycleOf(
  value: Json | undefined,
  kind: Kind,
  { inventory, sections, limits }: Pick<ResolveContext, "inventory" | "sections" | "limits">,
  report: Report,
): Lifecycle {
  const { protect, onReplace, migration, onDelete, ignoreChanges, dependsOn } = mapOf(value);
  const needData = [
    ["onDelete", onDelete === "backup", "onDelete: backup would save nothing", "retain to leave it running"],
    ["onReplace", onReplace === "migrate", "onReplace: migrate would move nothing", "recreate"],
  ] as const;
  for (const [key, isWritten, would, other] of kind.holdsData ? [] : needData) {
    if (!isWritten) continue;
    const message = `a ${kind.noun} holds no data, and ${would}`;
    const hint = `leave ${key} out, or write ${other}`;
    report.error(["lifecycle", key], { code: "nothing-to-save", message, hint });
  }
  const rules = migration === undefined ? defaultRules : migrationOf(migration);
  const allowed = rules.hook && limits && allowedCommand(rules.hook, limits);
  if (allowed && "message" in allowed) report.error(["lifecycle", "migration", "hook"], allowed);
  const hook = allowed && "run" in allowed ? allowed.run : rules.hook;
  const ignored = textsOf(ignoreChanges);
  const rows = fieldRows(kind.schema);
  for (const [index, path] of ignored.entries()) {
    if (rows.has(path) || Object.hasOwn(kind.schema.properties, path)) continue;
    const message = `there is no field ${JSON.stringify(path)}`;
    const hint = suggest(path, [...rows.keys()], "fields");
    report.error(["lifecycle", "ignoreChanges", index], { code: "unknown-field", message, hint });
  }
  const needed = textsOf(dependsOn).flatMap((text, index): readonly Address[] => {
    const found = findReferents(inventory, text, sections);
    if ("addresses" in found) return found.addresses;
    report.error(["lifecycle", "dependsOn", index], found.fault);
    return [];
  });
  return {
    ...(typeof protect === "boolean" ? { protect } : {}),
    onReplace: onReplace === "recreate" || onReplace === "migrate" ? onReplace : "refuse",
    ...(onReplace === "migrate" ? { migration: { ...rules, ...defined({ hook }) } } : {}),
    onDelete: onDelete === "retain" || onDelete === "backup" ? onDelete : "delete",
    ignoreChanges: ignored,
    dependsOn: needed,
  };
}

const defaultRules: MigrationRules = { windows: [], hold: 24 * 3600 * 1000 };

function migrationOf(value: Json): MigrationRules {
  const { windows, maxReadOnly, hold, hook } = mapOf(value);
  const command = textsOf(hook);
  return {
    windows: textsOf(windows),
    hold: msOf(hold) ?? defaultRules.hold,
    ...defined({ maxReadOnly: msOf(maxReadOnly) }),
    ...(command.length === 0 ? {} : { hook: command }),
  };
}

function timeoutsOf(value: Json | undefined): Timeouts {
  if (value === undefined) return {};
  const written = mapOf(value);
  const [create, update, remove] = ["create", "update", "delete"].map((operation) =>
    msOf(written[operation]),
  );
  return defined({ create, update, delete: remove });
}

/** A written duration in ms; a value of the wrong type counts as left out. */
function msOf(written: Json | undefined): number | undefined {
  return typeof written === "string" ? parseDuration(written) : undefined;
}
