import type { Address } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import type { Json } from "../model/json.ts";
import type { Finding, Kind } from "../model/kind.ts";
import type { Reference } from "../model/sealed.ts";
import { explainViolations } from "./explain.ts";
import type { Expression } from "./expression.ts";
import { errorAt, type Fault, warningAt } from "./finding.ts";
import type { Inventory, Member } from "./inventory.ts";
import { lifecycleOf, timeoutsOf } from "./lifecycle.ts";
import type { Part } from "./locate.ts";
import { namedReferences } from "./named-references.ts";
import { listed, suggest } from "./nearest.ts";
import { placeOf } from "./place.ts";
import { findReferent } from "./referent.ts";
import { resolveMap } from "./resolve-value.ts";
import { resourceShape } from "./resource-shape.ts";
import { type OutputExpression, scopeOf } from "./scope.ts";
import { sealFields, secretPartsOf, setAt } from "./seal-fields.ts";
import type { Secrets } from "./secrets.ts";
import { leafPaths, secretPaths } from "./shape.ts";
import type { Parsed, Path } from "./source.ts";
import type { Validators } from "./validators.ts";
import type { Variables } from "./variables.ts";

/** Everything that a resource is resolved with. */
export interface World {
  readonly parsed: Parsed;
  readonly kinds: readonly Kind[];
  readonly validators: Validators;
  readonly inventory: Inventory;
  readonly variables: Variables;
  readonly secrets: Secrets;
}

/** A resource as the manifest wants it, and everything that is wrong with it. Wrong parts stay as they are written. */
export interface ResolvedResource {
  readonly desired: Desired;
  readonly findings: readonly Finding[];
}

/** Fills in references, validates, seals secrets and collects what the resource refers to. */
export function resolveResource(member: Member, world: World): ResolvedResource {
  const { block, address } = member;
  const { kind } = block;
  const { schema } = kind;
  const { layers } = world.parsed;
  const findings: Finding[] = [];
  const sections = world.kinds.map(({ name }) => name);
  const report = (path: Path, fault: Fault, part: Part = "value", expression?: Expression): void => {
    findings.push(errorAt(placeOf(layers, block, path, part, expression), fault, address));
  };

  const refs = new Set<Address>();
  const scope = scopeOf({
    variables: world.variables,
    secrets: world.secrets,
    sections,
    label: address,
    ...(member.each === undefined ? {} : { each: member.each, secretParts: secretPartsOf(member) }),
    refusesSecret: (expression, path) => secretFault(kind, expression, path),
    reference: (expression, path) =>
      fieldFault(kind, expression, path) ?? outputReference(expression, world, refs),
    report: (expression, path, fault) => report(path, fault, "value", expression),
  });
  const resolved = resolveMap(block.body, scope);

  const violations = world.validators.resources[kind.name]?.(resolved) ?? [];
  if (violations.length > 0) {
    for (const { path, part, fault } of explainViolations(violations, resolved, resourceShape(schema)))
      report(path, fault, part);
  }

  const { lifecycle, timeouts, ...written } = resolved;
  const means = { kind, schema, inventory: world.inventory, sections, report };
  const wanted = lifecycleOf(lifecycle, means);
  const named = namedReferences(written, schema, world.inventory, report);
  for (const reference of [...named.map(({ address }) => address), ...wanted.dependsOn]) refs.add(reference);

  const spec: Record<string, Json> = { ...written };
  for (const { path, address } of named) setAt(spec, path, address.slice(address.indexOf(".") + 1));
  for (const [name, field] of Object.entries(schema.properties)) {
    if (field["x-operations"] !== undefined && field.default !== undefined) spec[name] ??= field.default;
  }
  sealFields(spec, member, world.secrets, {
    error: (path, fault) => report(path.split("."), fault),
    warning: (path, fault) =>
      findings.push(warningAt(placeOf(layers, block, path.split("."), "value"), fault, address)),
  });
  const id = schema.properties["id"]?.["x-place"] === true ? spec["id"] : undefined;
  const desired: Desired = {
    address,
    kind: kind.name,
    spec,
    refs: [...refs],
    where: placeOf(layers, block, [], "entry"),
    lifecycle: wanted,
    timeouts: timeoutsOf(timeouts),
    ...(typeof id === "string" ? { importId: id } : {}),
  };
  return { desired, findings };
}

function secretFault(kind: Kind, expression: Pick<Expression, "text">, path: Path): Fault | undefined {
  const paths = secretPaths(kind.schema);
  if (paths.has(path.join("."))) return undefined;
  const hint = `use a variable here; a secret may stand in ${paths.size === 0 ? "no field" : [...paths].join(", ")} of this ${kind.noun}`;
  return {
    code: "secret-in-clear",
    message: `${expression.text} would be stored and shown in clear in ${path.join(".")}`,
    hint,
  };
}

/** Why no output may stand in a field: it decides something before anything is read. */
function fieldFault(kind: Kind, expression: OutputExpression, path: Path): Fault | undefined {
  const field = leafPaths(kind.schema).get(path.join("."));
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

/** The reference to another resource's output, which is then something this one depends on. */
export function outputReference(
  expression: OutputExpression,
  world: Pick<World, "kinds" | "inventory">,
  refs: Set<Address>,
): Reference | Fault {
  const { target, output, text } = expression;
  const kind = world.kinds.find(({ name }) => name === target.section);
  const found = findReferent(world.inventory, target);
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
