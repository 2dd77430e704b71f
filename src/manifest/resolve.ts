/** @module Resolves and checks a parsed manifest. */
import type { Desired } from "../model/desired.ts";
import { disruptions } from "../model/field-schema.ts";
import { defined, isObject, type Json, type JsonObject } from "../model/json.ts";
import type { Finding } from "../model/kind.ts";
import type { Guards, Manifest } from "../model/manifest.ts";
import type { Problem, SourceRange } from "../model/problem.ts";
import type { Profile } from "../model/profile.ts";
import type { Seal } from "../model/sealed.ts";
import { hasPassword } from "../model/userinfo.ts";
import { readBindings } from "./bindings.ts";
import { blockRange } from "./block-range.ts";
import type { Expression } from "./expression.ts";
import { buildInventory, type Inventory, type Member } from "./inventory.ts";
import { nearestSpan, type Part, rangeOf, within } from "./locate.ts";
import { type HeadInputs, type ManifestHead, readManifestHead } from "./manifest-head.ts";
import { readOutputs } from "./outputs.ts";
import { dotted } from "./problems/describe.ts";
import { errorAt, type Fault, warningAt } from "./problems/finding.ts";
import { finishProblems } from "./problems/finish-problems.ts";
import { plainFields } from "./problems/plain-fields.ts";
import { headerOf } from "./read-header.ts";
import { type ResolveContext, readLeftOut, resolveResource } from "./resolve-resource.ts";
import { findCycles, runRules, unusedDefaultsFaults } from "./rules.ts";
import { readSecrets, type SecretText } from "./secrets.ts";
import type { Parsed, Path } from "./source.ts";
import { mapOf } from "./unresolved.ts";

/** Inputs of `resolveManifest`. */
export interface ManifestInputs extends HeadInputs {
  readonly profile: Profile;
  readonly secretText: SecretText;
  readonly seal: Seal;
  /** ISO date. A `removed` entry whose `until` is before it is a warning. */
  readonly today: string;
}

/** The manifest, or every problem that keeps it from being one. */
export interface Resolution {
  readonly manifest?: Manifest;
  /** Errors, sorted by place. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Collects all problems at once. Never throws for a mistake in the manifest. */
export async function resolveManifest(parsed: Parsed, inputs: ManifestInputs): Promise<Resolution> {
  if (parsed.value === undefined) return finish(parsed, inputs, parsed.findings);
  const head = readManifestHead(parsed, parsed.value, inputs);
  const findings: Finding[] = [...parsed.findings, ...head.findings];
  const rangeAt = (path: Path, part: Part, expression?: Expression): SourceRange => {
    const found = nearestSpan(parsed.layers, path, part);
    return rangeOf(found === undefined || expression === undefined ? found : within(found, expression.text));
  };
  const report = (path: Path, fault: Fault, part: Part = "value", expression?: Expression): void => {
    findings.push(errorAt(rangeAt(path, part, expression), fault));
  };

  const { kinds, validators } = inputs;
  const sections = kinds.all.map((kind) => kind.name);
  const inventory = buildInventory(parsed.value, kinds.all, head.variables, (path, fault, expression) => {
    report(path, fault, "value", expression);
  });
  const secrets = await readSecrets(
    partsWithSecrets(parsed.value, sections, inventory),
    head.value["secrets"],
    inputs.secretText,
    inputs.seal,
    (path, expression, fault) => report(path, fault, "value", expression),
    (path) => keysAt(path, inventory),
  );
  const { namePrefix } = head.value;
  const context: ResolveContext = {
    parsed,
    kinds,
    validators,
    inventory,
    variables: head.variables,
    secrets,
    namePrefix: typeof namePrefix === "string" ? namePrefix : "",
  };
  const resources = [...inventory.members.values()].map((member) => resolveResource(member, context));
  const desired = resources.map((resource) => resource.desired);
  for (const { path, part, fault } of unusedDefaultsFaults(parsed.value, context)) report(path, fault, part);
  const outputs = readOutputs(head.value["outputs"], {
    context,
    report,
    where: (path) => rangeAt(path, "entry"),
  });
  const bindings = readBindings(head.value, desired, {
    inventory,
    sections,
    today: inputs.today,
    report,
    warn: (path, fault) => void findings.push(warningAt(rangeAt(path, "value"), fault)),
    where: (path) => rangeAt(path, "entry"),
  });
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
  const written = [...passwordsIn(parsed.value, [])];
  findings.push(...written.map(({ path }) => warningAt(rangeAt(path, "value"), passwordInAddress(path))));
  findings.push(...filledInPasswords(desired, new Set(written.map(({ text }) => text)), context));
  const found = [...resources, ...leftOut].flatMap((resource) => resource.findings);
  const all = [...findings, ...runRules(bound, found, context, inputs.profile), ...findCycles(bound)];

  const finished = finish(parsed, inputs, all);
  const header = headerOf(head);
  if (finished.problems.length > 0 || header === undefined) return finished;
  const { warnings } = finished;
  return {
    ...finished,
    manifest: { ...header, desired: bound, outputs, ...bindings, removed, guards: guardsOf(head), warnings },
  };
}

function finish(parsed: Parsed, inputs: ManifestInputs, findings: readonly Finding[]): Resolution {
  const shown = plainFields(parsed.value, inputs.kinds.all);
  return {
    problems: finishProblems(findings, "error", parsed.layers, shown),
    warnings: finishProblems(findings, "warning", parsed.layers, shown),
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

/** The parts that may use secrets. What is left out needs none. */
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

/** The addresses that have a password in them; a section that must have none refuses it by itself. */
function* passwordsIn(value: Json, path: Path): Iterable<{ readonly path: Path; readonly text: string }> {
  if (typeof value === "string" && hasPassword(value)) yield { path, text: value };
  else if (Array.isArray(value))
    for (const [at, item] of value.entries()) yield* passwordsIn(item, [...path, at]);
  else if (isObject(value))
    for (const [key, inner] of Object.entries(value))
      if (path.length > 0 || (key !== "state" && key !== "service"))
        yield* passwordsIn(inner, [...path, key]);
}

/** Warnings of addresses that have their password from a variable: those that are written nowhere as a whole. */
function filledInPasswords(
  all: readonly Desired[],
  written: ReadonlySet<string>,
  { parsed, inventory }: ResolveContext,
): readonly Finding[] {
  return all.flatMap(({ address, spec }) => {
    const block = inventory.members.get(address)?.block;
    if (block === undefined) return [];
    const found = Object.entries(spec).flatMap(([path, value]) => [...passwordsIn(value, path.split("."))]);
    return found
      .filter(({ text }) => !written.has(text))
      .map(({ path }) =>
        warningAt(blockRange(parsed.layers, block, path, "value"), passwordInAddress([address, ...path])),
      );
  });
}

function passwordInAddress(path: Path): Fault {
  return {
    code: "password-in-address",
    message: `${dotted(path)} is an address with a password: everybody who can read this value can read it`,
    hint: "take it out of the address; reports hide it, and the service stores it as it stands",
  };
}

function guardsOf(head: ManifestHead): Guards {
  const written = head.value["guards"];
  if (!isObject(written)) return {};
  const { maxDeletes, maxChangePercent, maxDisruption } = written;
  const worst = disruptions.find((disruption) => disruption === maxDisruption);
  return {
    ...(typeof maxDeletes === "number" ? { maxDeletes } : {}),
    ...(typeof maxChangePercent === "number" ? { maxChangePercent } : {}),
    ...defined({ maxDisruption: worst }),
  };
}
