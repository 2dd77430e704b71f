import type { Json } from "../model/json.ts";
import { looksSame } from "../model/looks-same.ts";
import { withNames } from "../model/names.ts";
import type { Live, Ref } from "../model/observed.ts";
import type { Step } from "../model/plan.ts";
import { lastApplied, preconditionText } from "../model/precondition.ts";
import type { ApplyContext, StepResult } from "./context.ts";
import { kindOf } from "./context.ts";

/**
 * True where what the step's decision used is no longer what it was: values, or that it runs, where only what runs can be
 * updated. A step that comes after another one upon the same object knows better: that one has changed it.
 */
export function isStale(step: Step, live: Live, context: ApplyContext): boolean {
  if (step.after.some((key) => changesAddress(key, step.address))) return false;
  if (step.operation === "update" && live.phase.is === "stopped" && context.profile.updateNeeds === "ready")
    return true;
  const named = withNames(live, kindOf(context, step.kind).schema, context.outputsBefore);
  const applied = lastApplied(context.before, step.kind, live.id);
  return context.digest(preconditionText(named, step.checks, applied)) !== step.precondition;
}

/**
 * How much of what the step is to bring about shows already, by an earlier run or by somebody else: all of it, all but
 * what is never shown, or something else than that.
 */
export function broughtAbout(
  record: { readonly [path: string]: Json },
  step: Step,
  live: Live,
  context: ApplyContext,
): "all" | "shown" | "no" {
  const named = withNames(live, kindOf(context, step.kind).schema, context.outputs);
  const wanted = Object.entries(record);
  const shown = wanted.filter(([path]) => named.spec[path] !== undefined);
  const isAsWanted = shown.every(([path, value]) => looksSame(value, named.spec[path]?.value ?? null));
  if (shown.length === 0 || !isAsWanted) return "no";
  return shown.length === wanted.length ? "all" : "shown";
}

/** Moves and bindings of an address change the state alone. */
function changesAddress(key: string, address: string): boolean {
  const quiet = [`${address}#move`, `${address}#bind`];
  return (key === address || key.startsWith(`${address}#`)) && !quiet.includes(key);
}

/** The refusal of a step whose precondition no longer holds. */
export function stale(step: Step, ref: Ref, { phase }: Pick<Live, "phase">): StepResult {
  const checks = step.checks.length > 0 ? `: ${step.checks.join(", ")}` : "";
  const now = phase.is === "stopped" ? "; it is stopped" : "";
  return {
    result: "stale",
    id: ref.id,
    message: `${ref.id} is no longer as it was when the plan was made${checks}${now}`,
    hint: "make a new plan",
  };
}
