import { disruptions } from "../model/field-schema.ts";
import type { JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Finding } from "../model/kind.ts";
import type { Guards, Manifest } from "../model/manifest.ts";
import type { Problem, SourceRange } from "../model/problem.ts";
import type { Profile } from "../model/profile.ts";
import type { Seal } from "../model/sealed.ts";
import { readBindings } from "./bindings.ts";
import { findCycles } from "./cycles.ts";
import type { Expression } from "./expression.ts";
import { errorAt, type Fault, warningAt } from "./finding.ts";
import { finishProblems } from "./finish-problems.ts";
import { type Frame, type FrameInputs, readFrame } from "./frame.ts";
import { takeInventory } from "./inventory.ts";
import { nearestSpot, type Part, rangeOf, within } from "./locate.ts";
import { manifestBlot } from "./manifest-blot.ts";
import { readOutputs } from "./outputs.ts";
import { headerOf } from "./read-header.ts";
import { resolveResource, type World } from "./resource.ts";
import { runRules } from "./rules.ts";
import { readSecrets, type SecretText } from "./secrets.ts";
import type { Parsed, Path } from "./source.ts";
import { unusedDefaultsFaults } from "./unused-defaults.ts";

/** What a manifest is resolved with. */
export interface ManifestInputs extends FrameInputs {
  readonly profile: Profile;
  readonly secretText: SecretText;
  readonly seal: Seal;
  /** ISO date: entries of `removed` that were to be gone by then are warned of. */
  readonly today: string;
}

/** A manifest without errors, or what is wrong with it; everything is found at once. */
export interface Resolution {
  readonly manifest?: Manifest;
  /** Errors, sorted by place. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Resolves and checks a parsed manifest. Never throws for what an author can write. */
export async function resolveManifest(parsed: Parsed, inputs: ManifestInputs): Promise<Resolution> {
  if (parsed.value === undefined) return finish(parsed, inputs, parsed.findings, []);
  const frame = readFrame(parsed, parsed.value, inputs);
  const findings: Finding[] = [...parsed.findings, ...frame.findings];
  const spot = (path: Path, part: Part, expression?: Expression): SourceRange => {
    const found = nearestSpot(parsed.layers, path, part);
    return rangeOf(found === undefined || expression === undefined ? found : within(found, expression.text));
  };
  const report = (path: Path, fault: Fault, part: Part = "value", expression?: Expression): void => {
    findings.push(errorAt(spot(path, part, expression), fault));
  };

  const { kinds, validators } = inputs;
  const sections = kinds.map((kind) => kind.name);
  const inventory = takeInventory(parsed.value, kinds, frame.variables, (path, fault, expression) => {
    report(path, fault, "value", expression);
  });
  const secrets = await readSecrets(
    partsWithSecrets(parsed.value, sections),
    frame.value["secrets"],
    inputs.secretText,
    inputs.seal,
    (path, expression, fault) => report(path, fault, "value", expression),
  );
  const world: World = { parsed, kinds, validators, inventory, variables: frame.variables, secrets };
  const resources = [...inventory.members.values()].map((member) => resolveResource(member, world));
  const desired = resources.map((resource) => resource.desired);
  for (const { path, part, fault } of unusedDefaultsFaults(parsed.value, world)) report(path, fault, part);
  const outputs = readOutputs(frame.value["outputs"], {
    world,
    report,
    where: (path) => spot(path, "entry"),
  });
  const bindings = readBindings(frame.value, desired, {
    inventory,
    sections,
    today: inputs.today,
    report,
    warn: (path, fault) => void findings.push(warningAt(spot(path, "value"), fault)),
    where: (path) => spot(path, "entry"),
  });
  const ids = new Map(bindings.imports.map(({ address, id }) => [address, id]));
  const bound = desired.map((resource) => {
    const importId = ids.get(resource.address);
    return importId === undefined ? resource : { ...resource, importId };
  });
  const found = resources.flatMap((resource) => resource.findings);
  const all = [...findings, ...runRules(bound, found, world, inputs.profile), ...findCycles(bound)];

  const finished = finish(parsed, inputs, all, secrets.texts());
  const header = headerOf(frame);
  if (finished.problems.length > 0 || header === undefined) return finished;
  const { warnings } = finished;
  return {
    ...finished,
    manifest: { ...header, desired: bound, outputs, ...bindings, guards: guardsOf(frame), warnings },
  };
}

function finish(
  parsed: Parsed,
  inputs: ManifestInputs,
  findings: readonly Finding[],
  texts: Iterable<string>,
): Resolution {
  const blot = manifestBlot(parsed, inputs.kinds, texts);
  return {
    problems: finishProblems(findings, "error", parsed.layers, blot),
    warnings: finishProblems(findings, "warning", parsed.layers, blot),
  };
}

function partsWithSecrets(manifest: JsonObject, sections: readonly string[]): JsonObject {
  const parts = [...sections, "defaults", "outputs"];
  return Object.fromEntries(Object.entries(manifest).filter(([key]) => parts.includes(key)));
}

function guardsOf(frame: Frame): Guards {
  const written = frame.value["guards"];
  if (!isObject(written)) return {};
  const { maxDeletes, maxChangePercent, maxDisruption } = written;
  const worst = disruptions.find((disruption) => disruption === maxDisruption);
  return {
    ...(typeof maxDeletes === "number" ? { maxDeletes } : {}),
    ...(typeof maxChangePercent === "number" ? { maxChangePercent } : {}),
    ...(worst === undefined ? {} : { maxDisruption: worst }),
  };
}
