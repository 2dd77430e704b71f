/** @module Saves a plan to a file, and checks that a saved plan may still be applied. */
import type { Writer } from "../files/write-result.ts";
import { kinds } from "../kinds/index.ts";
import { secretPaths } from "../manifest/schema/shape.ts";
import { secretVariables } from "../manifest/secrets.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { defined, stableJson } from "../model/json.ts";
import type { Plan } from "../model/plan.ts";
import { type Open, secretsIn } from "../model/sealed.ts";
import { limitedTo, type ServiceIdentity } from "../model/service-identity.ts";
import type { StateDocument } from "../model/state.ts";
import { assertSameService } from "../state/claim-state.ts";
import { digestOf, isPlanApplied } from "../state/document.ts";
import { type ManifestFile, type PlanChoices, type SavedPlan, writePlanFile } from "../state/plan-file.ts";
import type { Run } from "./open-run.ts";
import { packageVersion } from "./package-files.ts";
import type { Project } from "./project.ts";

interface PlanningRun {
  readonly run: Pick<Run, "project" | "identity">;
  readonly options: PlanChoices;
  readonly commit: SavedPlan["commit"];
  readonly destroying: boolean;
}

/** Saves a plan with its options, its commit, and the digests of its manifest and its variables, so that apply can detect changes. */
export async function savePlan(
  file: string,
  plan: Plan,
  { run: { project, identity }, options, commit, destroying }: PlanningRun,
  writer: Writer,
): Promise<void> {
  const { part } = secretVariables(project.parsed.value ?? {})(kinds.all);
  const given = Object.entries(project.variables);
  const saved: SavedPlan = {
    plan,
    ...(destroying ? { destroying } : {}),
    service: identity,
    manifest: digests(project),
    variables: Object.fromEntries(given.filter(([name]) => !part.has(name))),
    withheld: given.map(([name]) => name).filter((name) => part.has(name)),
    ...defined({ commit }),
    choices: choicesOf(options),
  };
  const isSecret = (kind: string, path: string): boolean => secretPaths(kinds.named(kind).schema).has(path);
  await writePlanFile(file, saved, isSecret, packageVersion(), writer);
}

/** Throws `plan-stale` if a saved plan was applied already, is of another state, or its manifest has changed. */
export function assertApplicable(saved: SavedPlan, project: Project, state: StateDocument): void {
  const { plan } = saved;
  if (isPlanApplied(state, plan.fingerprint)) throw stale("this plan was applied already");
  if (plan.serial === 0 && state.serial > 0)
    throw stale("this plan was made before there was a state, and now there is one");
  const sameState = state.serial === 0 ? plan.serial === 0 : state.lineage === plan.lineage;
  if (plan.name !== state.name || !sameState) throw stale("this plan was made from another state");
  // An older copy of the state may lack that the plan was applied, and the resources it created.
  if (state.serial < plan.serial) throw stale("the state is older than the one this plan was made from");
  const now = new Map(digests(project).map((entry) => [entry.path, entry.sha256]));
  const changed = saved.manifest
    .filter((entry) => now.get(entry.path) !== entry.sha256)
    .map((entry) => entry.path);
  if (changed.length > 0)
    throw stale(`the manifest has changed since this plan was made: ${changed.join(", ")}`);
  assertSameVariables(saved, project.variables);
}

/** Apply resolves the manifest again, so its variables must be those of the plan. */
function assertSameVariables({ variables, withheld }: SavedPlan, given: Project["variables"]): void {
  const missing = withheld.filter((name) => !Object.hasOwn(given, name));
  if (missing.length > 0) {
    const message = `a plan file stores no secrets, and this plan needs variables that are part of one: ${missing.join(", ")}`;
    const hint = `give them again: ${missing.map((name) => `--var ${name}=...`).join(" ")}, or --var-file`;
    throw new GraphformError("plan-variables", message, { hint });
  }
  const other = Object.keys(given).filter(
    (name) =>
      !withheld.includes(name) && !(Object.hasOwn(variables, name) && variables[name] === given[name]),
  );
  if (other.length > 0)
    throw stale(`these variables have changed since this plan was made: ${other.join(", ")}`);
}

/** Throws `plan-options` if an option would change the saved plan: one that it was made with does not. */
export function assertAsSaved(options: PlanChoices, { choices }: SavedPlan, file: string): void {
  const keys = ["target", "exclude", "replace", "allowDestroy", "cutover", "maxDisruption"] as const;
  const other = keys.find((key) => {
    const given = options[key] ?? [];
    return given.length > 0 && stableJson(given) !== stableJson(choices?.[key] ?? []);
  });
  if (other === undefined) return;
  const option = `--${other.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)}`;
  throw new GraphformError(
    "plan-options",
    `a saved plan is applied as it is, and ${option} would change it`,
    { hint: `make the plan with ${option}: graphform plan ${option} ... --out ${file}` },
  );
}

function choicesOf(options: PlanChoices): PlanChoices {
  const { target, exclude, replace, allowDestroy, cutover = [], maxDisruption, probe } = options;
  return {
    ...{ target, exclude, replace, allowDestroy },
    ...(cutover.length === 0 ? {} : { cutover }),
    ...defined({ maxDisruption }),
    ...(probe === false ? { probe } : {}),
  };
}

/** Throws `state-service` if a saved plan was made for another service. */
export function assertPlannedHere({ service, plan }: SavedPlan, identity: ServiceIdentity): void {
  if (service === undefined) return;
  const tiers = plan.steps.flatMap(({ place }) => (typeof place["tier"] === "string" ? [place["tier"]] : []));
  assertSameService(
    limitedTo(service, new Set(tiers)),
    identity,
    "the plan",
    "apply it with the settings that it was made with, or make a new plan",
  );
}

/** Throws `plan-stale` if a secret of a step has changed: a replacement must not delete what it cannot create again. */
export function assertSecretsKept({ steps }: Plan, open: Open): void {
  const changed = steps.filter(
    ({ operation, spec, blocked }) =>
      ["create", "update", "heal", "operate"].includes(operation) &&
      blocked.length === 0 &&
      secretsIn(spec).some((sealed) => open(sealed) === undefined),
  );
  if (changed.length === 0) return;
  const addresses = changed.map((step) => step.address).join(", ");
  throw new GraphformError("plan-stale", `a secret has changed since this plan was made: ${addresses}`, {
    hint: "give the same secrets as when the plan was made, or make a new plan",
    exitCode: exitCodes.stale,
  });
}

/** The layers as they were read, by the digest of their texts. */
function digests({ parsed }: Pick<Project, "parsed">): readonly ManifestFile[] {
  return parsed.layers.map(({ file, text }) => ({ path: file, sha256: digestOf(text) }));
}

function stale(message: string): GraphformError {
  return new GraphformError("plan-stale", message, { hint: "make a new plan", exitCode: exitCodes.stale });
}
