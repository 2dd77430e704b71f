/** @module Converts the specs of a plan, for its file and its fingerprint: they are nested there. */
import type { JsonObject } from "./json.ts";
import type { Change, Plan, Step } from "./plan.ts";
import { flatten, nest, type Spec } from "./spec.ts";

type Parts = Pick<Plan, "changes" | "steps">;

/** A plan as it is written down, with nested specs. */
export function nestedPlan<P extends Parts>(plan: P): P {
  return withSpecs(plan, nest);
}

/** A plan that was written down, with flat specs. */
export function flatPlan<P extends Parts>(plan: P): P {
  return withSpecs(plan, flatten);
}

/** The keys keep their order: a plan file is the same, byte for byte, however often it is read and written. */
function withSpecs<P extends Parts>(plan: P, convert: (spec: Spec) => JsonObject): P {
  const changes = plan.changes.map(
    (change): Change => ({
      ...change,
      ...(change.before === undefined ? {} : { before: convert(change.before) }),
      ...(change.after === undefined ? {} : { after: convert(change.after) }),
    }),
  );
  const steps = plan.steps.map(
    (step): Step => ({
      ...step,
      ...(step.spec === undefined ? {} : { spec: convert(step.spec) }),
      ...(step.patch === undefined ? {} : { patch: convert(step.patch) }),
    }),
  );
  return { ...plan, changes, steps };
}
