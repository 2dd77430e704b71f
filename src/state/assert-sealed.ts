/** @module Refuses to save a plan in which a secret stands in clear text. */
import { GraphformError } from "../model/errors.ts";
import type { FieldChange, Plan } from "../model/plan.ts";
import { isSealed, isTemplate } from "../model/sealed.ts";
import { findSecret } from "./find-secret.ts";
import { isFingerprint } from "./vault.ts";

/**
 * Throws `plan-secret` where a secret stands in a plan in clear: a field that is marked secret and not sealed, or one
 * of the texts anywhere; and where a plan made before there was a state holds a fingerprint, whose key would have to go
 * with it. The error names the place and never the text.
 */
export function assertSealed(saved: { readonly plan: Plan }, texts: Iterable<string>): void {
  const { changes, steps, outputs, serial } = saved.plan;
  for (const change of changes) {
    const open = [...change.fields, ...change.drift].find((field) => field.secret && !isClosed(field));
    if (open !== undefined) throw clear(`${change.address} ${open.path}`);
  }
  const found = findSecret(saved, texts);
  if (found !== undefined) throw clear(found);
  if (serial === 0 && [changes, steps, outputs].some(containsFingerprint))
    throw clear("a plan without a state");
}

function isClosed({ before, after }: FieldChange): boolean {
  return [before, after].every(
    (value) =>
      value === undefined ||
      value === null ||
      isSealed(value) ||
      (isTemplate(value) && value.$template.every((part) => typeof part !== "string")),
  );
}

function containsFingerprint(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (isSealed(value)) return isFingerprint(value);
  return Object.values(value).some(containsFingerprint);
}

function clear(at: string): GraphformError {
  return new GraphformError("plan-secret", `the plan was not written: a secret stands in clear at ${at}`, {
    hint: "keep secrets to the fields that are meant for them, and do not use a secret that is an ordinary word",
  });
}
