/** @module Refuses to save a plan in which a secret stands in clear text. */
import { GraphformError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import type { Plan, Step } from "../model/plan.ts";
import { isReference, isSealed, isTemplate } from "../model/sealed.ts";
import type { Spec } from "../model/spec.ts";
import { isFingerprint } from "./vault.ts";

/** True for a field of a kind that is secret, by its dotted path. */
export type IsSecretField = (kind: string, path: string) => boolean;

/**
 * Throws `plan-secret` if a secret field of a plan is not sealed, and if a plan that was made before there was a state holds a
 * fingerprint, whose key would have to go with it. The error names the place and never the text.
 */
export function assertSealed({ changes, steps, outputs, serial }: Plan, isSecret: IsSecretField): void {
  for (const { kind, address, fields, drift, before, after } of changes) {
    const given = [...fields, ...drift].filter((field) => field.secret || isSecret(kind, field.path));
    const open = given.find((field) => ![field.before, field.after].every(isClosed));
    if (open !== undefined) throw clear(`${address} ${open.path}`);
    assertSpecsSealed({ kind, address }, [before, after], isSecret, isFilledIn);
  }
  for (const step of steps) assertSpecsSealed(step, [step.spec, step.patch, step.record], isSecret, isClosed);
  if (serial === 0 && [changes, steps, outputs].some(containsFingerprint))
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

/** The references of what is shown of a spec are filled in: a part of it in clear is the output of a resource, such as an id. */
function isFilledIn(value: Json): boolean {
  return isClosed(value) || (isTemplate(value) && value.$template.some((part) => typeof part !== "string"));
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

function containsFingerprint(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (isSealed(value)) return isFingerprint(value);
  return Object.values(value).some(containsFingerprint);
}

function clear(at: string): GraphformError {
  return new GraphformError("plan-secret", `the plan was not written: a secret stands in clear at ${at}`, {
    hint: "this is a bug in graphform; please report it with the name of the field",
  });
}
