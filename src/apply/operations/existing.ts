/** @module Provides the parts that all operations on an existing object share. */
import type { Address } from "../../model/address.ts";
import type { Ref } from "../../model/observed.ts";
import type { Step } from "../../model/plan.ts";
import { preconditionText } from "../../model/precondition.ts";
import type { Bound } from "../../model/state.ts";
import type { ApplyContext, StepResult } from "../context.ts";
import { stale, waitsForPerson } from "../context.ts";
import { type Converged, converge } from "../engine/converge.ts";
import { timeoutOf } from "../engine/wait-for-operation.ts";

/** The object of a step. An operation that follows a create has no id in the plan: the state knows it by now. */
export function refOf(step: Step, { journal }: Pick<ApplyContext, "journal">): Ref {
  const bound = journal.state.resources[step.address];
  return { id: step.id ?? bound?.id ?? "", place: bound?.place ?? step.place };
}

export async function untilAtRest(step: Step, ref: Ref, context: ApplyContext): Promise<Converged> {
  const now = context.clock.now();
  const createdAt = Date.parse(context.journal.state.resources[step.address]?.createdAt ?? "");
  return converge(
    {
      kind: step.kind,
      ref,
      phases: ["ready", "stopped", "failed"],
      baseline: undefined,
      acceptedAt: now,
      madeAt: Number.isNaN(createdAt) ? now : createdAt,
      timeout: timeoutOf(step, "update", context),
    },
    step,
    context,
  );
}

/** A step without a plan, for a bound object in any state. */
export function unplannedStep(
  address: Address,
  { kind, id, place }: Pick<Bound, "kind" | "id" | "place">,
  operation: Step["operation"],
  digest: ApplyContext["digest"],
): Step {
  const live = { id, phase: { is: "ready", detail: "" }, spec: {}, outputs: {} } as const;
  const precondition = digest(preconditionText(live, [], {}, new Map()));
  const named = { key: address, operation, address, kind, id, place };
  return { ...named, checks: [], precondition, after: [], blocked: [] };
}

/** True if the object is gone. */
export function isAbsent(rest: Converged): boolean {
  return rest.is === "never-there" || (rest.is === "failed" && rest.live.phase.is === "gone");
}

/** The result of a step whose object did not come to rest. */
export function notAtRest(ref: Ref, rest: Converged): StepResult {
  if (rest.is === "timeout") {
    return {
      result: "converging",
      id: ref.id,
      message: `${ref.id} is busy with something else: it is still ${rest.detail}`,
      hint: "run apply again",
    };
  }
  if (rest.is === "interrupted") return { result: "interrupted", id: ref.id };
  if (rest.is === "waiting-for-person") return waitsForPerson(ref, rest.detail);
  return stale(`${ref.id} is gone`, ref.id);
}

/** The same result, for a step that was done before anything was sent. */
export function withoutSending(result: StepResult): StepResult {
  return result.result === "done" ? { ...result, unsent: true } : result;
}

export function timestamp({ clock }: Pick<ApplyContext, "clock">): string {
  return new Date(clock.now()).toISOString();
}
