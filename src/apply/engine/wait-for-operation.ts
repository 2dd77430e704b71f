/** @module Waits for the end of an accepted operation and records it in the state. */

import { remedyForFailed, withoutTwin } from "../../model/address.ts";
import { serviceTime } from "../../model/clock.ts";
import type { Baseline } from "../../model/consistency.ts";
import { GraphformError } from "../../model/errors.ts";
import { fieldRows } from "../../model/field-schema.ts";
import type { Live, PhaseName, Ref } from "../../model/observed.ts";
import type { Step } from "../../model/plan.ts";
import { fieldsOf, type Spec } from "../../model/spec.ts";
import { type ApplyContext, type StepResult, waitsForPerson } from "../context.ts";
import { askObject, valuesOf } from "../probe-object.ts";
import { converge } from "./converge.ts";
import { untilUsable } from "./readiness.ts";

/** Operations that lead to one phase from any other. */
const phasesByOperation: { readonly [operation: string]: readonly PhaseName[] } = {
  create: ["ready"],
  start: ["ready"],
  restart: ["ready"],
  stop: ["stopped"],
  delete: ["gone"],
};

/** The phases that an operation leads to. An operation that is not listed above leaves a stopped resource stopped. */
export function phasesAfter(operation: string, baseline: Baseline | "first-look"): readonly PhaseName[] {
  const known = phasesByOperation[operation];
  if (known !== undefined) return known;
  if (baseline === "first-look") return ["ready", "stopped"];
  return baseline?.phase.is === "stopped" ? ["stopped"] : ["ready"];
}

/** Waits until an accepted operation has done its work and records it. `baseline`: the look before; `phases` end the wait well. */
export async function waitForOperation(
  step: Step,
  ref: Ref,
  operation: string,
  baseline: Baseline | "first-look",
  context: ApplyContext,
  phases: readonly PhaseName[] = phasesAfter(operation, baseline),
): Promise<StepResult> {
  const bound = context.journal.state.resources[step.address];
  const started = context.clock.now();
  const acceptedAt = timeOf(bound?.converging?.since, started);
  const madeAt = operation === "delete" ? timeOf(bound?.createdAt, 0) : acceptedAt;
  const timeout = timeoutOf(step, operation, context);
  const arrival = await converge(
    { kind: step.kind, ref, phases, baseline, acceptedAt, madeAt, timeout },
    step,
    context,
  );
  switch (arrival.is) {
    case "arrived": {
      if (arrival.live === undefined) return { result: "done", id: ref.id };
      context.outputs.set(step.address, arrival.live.outputs);
      const left = timeout - (context.clock.now() - started);
      await untilUsable(step, ref, arrival.live, left, context);
      const record = shownMark(step, arrival.live, context);
      const at = new Date(context.clock.now()).toISOString();
      const { createdAt: shownCreatedAt } = arrival.live;
      const took = tookOf(step, operation, baseline, context);
      const applies = operation === "create" || operation === "update";
      const ineffective = applies ? await ineffectivePaths(step, ref, arrival.live, context) : [];
      await context.journal.record({
        type: "operation-settled",
        address: step.address,
        record,
        at,
        ...(serviceTime(shownCreatedAt) === undefined ? {} : { shownCreatedAt }),
        ...took,
        ...(ineffective.length === 0 ? {} : { ineffective }),
      });
      return { result: "done", id: ref.id };
    }
    case "failed":
      context.outputs.set(step.address, arrival.live.outputs);
      await context.journal.record({ type: "operation-failed", address: step.address });
      return {
        result: "failed",
        id: ref.id,
        message: `${ref.id} failed: ${arrival.detail}`,
        hint:
          operation === "delete"
            ? "the next plan deletes it again"
            : `the next plan offers to try it again in place; ${remedyForFailed(step.address, ref.id, context.kinds.named(step.kind), context.profile)}`,
      };
    case "waiting-for-person":
      context.outputs.set(step.address, arrival.live.outputs);
      return waitsForPerson(ref, arrival.detail);
    case "never-there":
      throw new GraphformError(
        "never-there",
        `the service answered the create of ${step.address} with ${ref.id}, and nothing of that id was ever there`,
        { hint: "run apply again: it looks for what the create has made before it makes another" },
      );
    case "timeout":
      return {
        result: "converging",
        id: ref.id,
        message: `${ref.id} is still ${arrival.detail} after the time that was allowed`,
        hint: "run apply again to go on waiting",
      };
    case "interrupted":
      return {
        result: "interrupted",
        id: ref.id,
        message: `${ref.id} was left ${arrival.detail === "" ? "as it is" : arrival.detail}`,
        hint: "run apply again to go on",
      };
  }
}

/** Ms since the acceptance of an operation; nothing if an earlier run asked for it, or if nothing was sent. */
function tookOf(
  { address }: Step,
  operation: string,
  baseline: Baseline | "first-look",
  { clock, journal, stateAtStart }: ApplyContext,
): { readonly took?: number } {
  const since = journal.state.resources[address]?.converging?.since;
  const wasAsked = operation === "create" || (baseline !== undefined && baseline !== "first-look");
  if (!wasAsked || since === undefined || since === stateAtStart.resources[address]?.converging?.since)
    return {};
  return { took: Math.max(0, Math.round(clock.now() - Date.parse(since))) };
}

/** Longest wait for an operation in ms: the step's own, or the profile's. */
export function timeoutOf(
  step: Pick<Step, "timeout">,
  operation: string,
  { profile }: Pick<ApplyContext, "profile">,
): number {
  return step.timeout ?? profile.timing.timeout[operation] ?? 40 * 60_000;
}

function timeOf(text: string | undefined, otherwise: number): number {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? otherwise : time;
}

/** The fields of this state's own mark that an object shows. They are recorded: a later look without them means removal. */
function shownMark(
  { kind, address }: Pick<Step, "kind" | "address">,
  { spec }: Live,
  context: Pick<ApplyContext, "kinds" | "journal">,
): Spec {
  const { lineage } = context.journal.state;
  const mark = context.kinds.named(kind).ownerMark({ lineage, address: withoutTwin(address) });
  return Object.fromEntries(Object.entries(mark).filter(([path, value]) => spec[path]?.value === value));
}

/** Finds paths that were just applied and for which the running object shows another value. Empty if it cannot be asked. */
async function ineffectivePaths(
  step: Step,
  ref: Ref,
  live: Live,
  context: ApplyContext,
): Promise<readonly string[]> {
  const { stopping, profile } = context;
  const rows = fieldRows(context.kinds.named(step.kind).schema);
  const sent = fieldsOf(step.spec ?? {}).filter(([path]) => {
    const row = rows.get(path);
    return row?.["x-probe"] !== undefined && row["x-create-only"] !== true;
  });
  if (sent.length === 0 || live.phase.is !== "ready" || profile.timing.endpoint === 0 || stopping.aborted)
    return [];
  const answer = await askObject(step, live, context).catch((error: unknown) => {
    if (!stopping.aborted) throw error;
    return undefined;
  });
  const shown = answer === undefined ? {} : valuesOf(step, answer, live, context);
  // A value that means the same as the declared one is reported as the declared one.
  const ineffective = sent.filter(([path, value]) => shown[path] !== undefined && shown[path] !== value);
  for (const [path] of ineffective)
    context.emit({
      type: "warning",
      address: step.address,
      message: `${ref.id}: ${path} was applied, and the database does not follow; it is not sent again as it is`,
    });
  return ineffective.map(([path]) => path);
}
