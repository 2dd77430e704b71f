/** @module Decides just before a write whether the observations that its step was planned from still hold. Pure. */

import { sameValue } from "../../model/compare.ts";
import { fieldRows, rowAt } from "../../model/field-schema.ts";
import { naming } from "../../model/manifest.ts";
import type { Live, Ref } from "../../model/observed.ts";
import type { Step } from "../../model/plan.ts";
import { lastApplied, preconditionText } from "../../model/precondition.ts";
import type { Spec } from "../../model/spec.ts";
import type { ApplyContext, StepResult } from "../context.ts";
import { stale } from "../context.ts";
import type { Shown } from "./unconfirmed-write.ts";

export type PreconditionContext = Pick<
  ApplyContext,
  "kinds" | "profile" | "outputsAtStart" | "outputs" | "stateAtStart" | "digest"
>;

/**
 * True if the values that the step's decision used have changed, or if the object was stopped and only a running one can be updated. A
 * step after another change of the same object is current by that change.
 */
export function isStale(step: Step, live: Live, context: PreconditionContext): boolean {
  if (step.after.some((key) => changesObject(key, step.address))) return false;
  const { schema } = context.kinds.named(step.kind);
  const rows = fieldRows(schema);
  const isMetadata = Object.keys(step.patch ?? {}).every((path) => rowAt(rows, path)["x-in"] === "metadata");
  const needsReady = step.operation === "update" && !isMetadata && context.profile.updateNeeds === "ready";
  if (needsReady && live.phase.is === "stopped") return true;
  const named = naming(context.outputsAtStart)(live, schema);
  const applied = lastApplied(context.stateAtStart, step.kind, { id: live.id, place: step.place });
  return context.digest(preconditionText(named, step.checks, applied, rows)) !== step.precondition;
}

/** Decides how many of the values that a step is to set are shown already. */
export function shownOf(record: Spec, step: Step, live: Live, context: PreconditionContext): Shown {
  const { schema } = context.kinds.named(step.kind);
  const rows = fieldRows(schema);
  const named = naming(context.outputs)(live, schema);
  const wanted = Object.entries(record);
  const shown = wanted.filter(([path]) => named.spec[path] !== undefined);
  const isAsWanted = shown.every(([path, value]) =>
    sameValue(value, named.spec[path]?.value ?? null, rowAt(rows, path)),
  );
  if (shown.length === 0 || !isAsWanted) return "no";
  return shown.length === wanted.length ? "all" : "shown";
}

export function staleResult(step: Step, ref: Ref, { phase }: Pick<Live, "phase">): StepResult {
  const checks = step.checks.length > 0 ? `: ${step.checks.join(", ")}` : "";
  const now = phase.is === "stopped" ? "; it is stopped" : "";
  return stale(`${ref.id} is no longer as it was when the plan was made${checks}${now}`, ref.id);
}

/** True for steps that change the object at the service: moves and bindings change the state, a backup changes nothing. */
function changesObject(key: string, address: string): boolean {
  const quiet = ["move", "bind", "backup"].map((name) => `${address}#${name}`);
  return (key === address || key.startsWith(`${address}#`)) && !quiet.includes(key);
}
