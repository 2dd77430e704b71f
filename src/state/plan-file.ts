/** @module Writes plans to files and reads them back, with a checksum and without secrets. */
import { readFile } from "node:fs/promises";
import { fileTrouble, isFileError } from "../files/file-trouble.ts";
import { type Writer, writeResult } from "../files/write-result.ts";
import { GraphformError } from "../model/errors.ts";
import { type Json, type JsonObject, objectIn } from "../model/json.ts";
import { flatPlan, nestedPlan, type Plan, type PlanOptions, type Step } from "../model/plan.ts";
import { isReference, isSealed, isTemplate, secretsIn } from "../model/sealed.ts";
import type { ServiceIdentity } from "../model/service-identity.ts";
import type { Spec } from "../model/spec.ts";
import { digestOf } from "./document.ts";
import { isCutShort } from "./read-state.ts";
import { validators } from "./validators.generated.js";
import { isFingerprint } from "./vault.ts";

/** A manifest file as it was when the plan was made. */
export interface ManifestFile {
  readonly path: string;
  readonly sha256: string;
}

export interface PlannedCommit {
  readonly repository: string;
  /** The branch, like `refs/heads/main`. */
  readonly ref: string;
  readonly commit: string;
}

/** The options of a plan as the command line names them. */
export interface PlanChoices extends Omit<PlanOptions, "targets"> {
  readonly target: PlanOptions["targets"];
  /** False for --no-probe. */
  readonly probe?: boolean;
}

/** A plan as it waits in a file. The key of its fingerprints is in its state alone: before there is one, a secret stands as its label. */
export interface SavedPlan {
  readonly plan: Plan;
  /** True for a plan of `plan --destroy`. */
  readonly destroying?: boolean;
  readonly service?: ServiceIdentity;
  readonly manifest: readonly ManifestFile[];
  /** The variables that options gave, but those that a secret is made of. */
  readonly variables: JsonObject;
  /** Names of those: they have to be given again. */
  readonly withheld: readonly string[];
  /** Left out of plans that were made outside of a pipeline. */
  readonly commit?: PlannedCommit;
  /** Left out of plans of an older graphform. */
  readonly choices?: PlanChoices;
}

const format = "graphform-plan";

/** The version that is written, and the newest that is read. Older ones stay readable. */
const formatVersion = 1;

/**
 * Writes a plan to a file, atomically, mode 0600. `madeBy` is the version of graphform, for one that cannot read the plan. Throws
 * `plan-unwritable`, and `plan-secret` as `assertSealed` does.
 */
export async function writePlanFile(
  file: string,
  saved: SavedPlan,
  isSecret: IsSecretField,
  madeBy: string,
  writer: Writer = { waiting: () => undefined, print: () => undefined },
): Promise<void> {
  assertSealed(saved.plan, isSecret);
  const written = { ...saved, plan: nestedPlan(saved.plan) };
  const body = JSON.stringify(written);
  const head = { format, version: formatVersion, madeBy, sha256: digestOf(body) };
  const lines = Object.entries(head).map(
    ([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)},\n`,
  );
  try {
    await writeResult(file, `{\n${lines.join("")}"saved": ${body}\n}\n`, writer, 0o600);
  } catch (cause) {
    const message = `the plan could not be written to ${file}: ${fileTrouble(cause)}`;
    throw new GraphformError("plan-unwritable", message, { cause });
  }
}

/** Throws `plan-unreadable`, `plan-truncated`, `plan-foreign`, `plan-newer`, or `plan-damaged` if a byte is not what was written. */
export async function readPlanFile(file: string): Promise<SavedPlan> {
  const content = await load(file);
  const envelope = objectIn(content);
  if (envelope === undefined && isCutShort(content))
    throw refused("plan-truncated", `the plan ${file} is not whole: its end is missing`);
  if (envelope?.["format"] !== format)
    throw refused(
      "plan-foreign",
      `${file} is not a plan of graphform`,
      "a plan file comes from graphform plan --out FILE; a manifest is named with -f",
    );
  if (envelope["version"] !== formatVersion) throw unknownFormat(file, envelope);
  const { saved, sha256: digest } = envelope;
  if (!isWhole(saved, digest)) throw damaged(file);
  const whole: SavedPlan = saved;
  return { ...whole, plan: flatPlan(whole.plan) };
}

async function load(file: string): Promise<string> {
  return readFile(file, "utf8").catch((cause: unknown) => {
    const hint = isFileError(cause, "ENOENT") ? `make it first: graphform plan --out ${file}` : undefined;
    throw refused("plan-unreadable", `the plan ${file} cannot be read: ${fileTrouble(cause)}`, hint, cause);
  });
}

function isWhole(saved: unknown, digest: unknown): saved is SavedPlan {
  return validators.plan(saved) && digestOf(JSON.stringify(saved)) === digest;
}

function unknownFormat(
  file: string,
  { version, madeBy }: { readonly [key: string]: unknown },
): GraphformError {
  const isNewer = Number.isInteger(version) && Number(version) > formatVersion;
  if (!isNewer) return damaged(file);
  const which = typeof madeBy === "string" ? `graphform ${madeBy}` : "a newer graphform";
  const message = `the plan ${file} was made by ${which} in format ${String(version)}; this graphform reads formats up to ${formatVersion}`;
  return refused("plan-newer", message, `use ${which} for it, or make a new plan`);
}

function damaged(file: string): GraphformError {
  return refused("plan-damaged", `the plan ${file} is not what graphform wrote: it was changed or damaged`);
}

function refused(code: string, message: string, hint = "make a new plan", cause?: unknown): GraphformError {
  return new GraphformError(code, message, { hint, cause });
}

/** True for a field of a kind that is secret, by its dotted path. */
type IsSecretField = (kind: string, path: string) => boolean;

/**
 * Throws `plan-secret` if a secret field of a plan is not sealed, or if a plan without a state holds a fingerprint, whose key would
 * have to go with it. The error names the place and never the text.
 */
export function assertSealed({ changes, steps, outputs, serial }: Plan, isSecret: IsSecretField): void {
  // References in a shown spec are filled in: its part in clear is the output of a resource, such as an id.
  const isFilledIn = (value: Json): boolean =>
    isClosed(value) || (isTemplate(value) && value.$template.some((part) => typeof part !== "string"));
  for (const { kind, address, fields, drift, before, after } of changes) {
    const given = [...fields, ...drift].filter((field) => field.secret || isSecret(kind, field.path));
    const open = given.find((field) => ![field.before, field.after].every(isClosed));
    if (open !== undefined) throw clear(`${address} ${open.path}`);
    assertSpecsSealed({ kind, address }, [before, after], isSecret, isFilledIn);
  }
  for (const step of steps) assertSpecsSealed(step, [step.spec, step.patch, step.record], isSecret, isClosed);
  if (serial === 0 && secretsIn([changes, steps, outputs]).some(isFingerprint))
    throw clear("a plan without a state");
}

function assertSpecsSealed(
  { kind, address }: Pick<Step, "kind" | "address">,
  specs: readonly (Spec | undefined)[],
  isSecret: IsSecretField,
  isSafe: (value: Json) => boolean,
): void {
  const open = specs
    .flatMap((spec) => Object.entries(spec ?? {}))
    .find(([path, value]) => isSecret(kind, path) && !isSafe(value));
  if (open !== undefined) throw clear(`${address} ${open[0]}`);
}

function isClosed(value: Json | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    isSealed(value) ||
    isReference(value) ||
    (isTemplate(value) && value.$template.every((part) => typeof part !== "string"))
  );
}

function clear(at: string): GraphformError {
  return new GraphformError("plan-secret", `the plan was not written: a secret is in clear at ${at}`, {
    hint: "this is a bug in graphform; please report it with the name of the field",
  });
}
