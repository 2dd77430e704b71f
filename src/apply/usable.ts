import type { Usable } from "../model/kind.ts";
import type { Live, Ref } from "../model/observed.ts";
import type { Step } from "../model/plan.ts";
import { bindSpec } from "./bind.ts";
import type { ApplyContext, StepResult } from "./context.ts";
import { driverOf } from "./context.ts";

/**
 * Ready is what the service says; usable is what an answer says. Tries the thing itself for as long as the profile
 * gives an endpoint; one that does not answer from here by then is a warning, since it may not be meant to.
 */
export async function untilUsable(
  step: Step,
  ref: Ref,
  live: Live,
  left: number,
  context: ApplyContext,
): Promise<StepResult> {
  const driver = driverOf(context, step.kind);
  if (driver.usable === undefined || live.phase.is !== "ready" || step.spec === undefined)
    return { result: "done" };
  if (context.profile.timing.endpoint === 0) return { result: "done" };
  const spec = bindSpec(step.kind, step.spec, context);
  const started = context.clock.now();
  const allowed = Math.min(left, context.profile.timing.endpoint);
  let pause = context.profile.timing.poll.first;
  for (;;) {
    const usable: Usable = await driver.usable(live, spec, context.stopping);
    if (usable.is === "usable" || context.stopping.aborted) return { result: "done" };
    if (usable.is === "unknown" || context.clock.now() - started >= allowed) {
      if (usable.detail !== "")
        context.emit({ type: "warning", address: step.address, message: `${ref.id}: ${usable.detail}` });
      return { result: "done" };
    }
    await context.clock.sleep(pause, context.stopping);
    pause = Math.min(pause * 1.5, context.profile.timing.poll.longest);
  }
}
