/** @module Polls a ready resource until it answers a request of its own. */
import type { Usable } from "../../model/kind.ts";
import type { Live, Ref } from "../../model/observed.ts";
import type { Step } from "../../model/plan.ts";
import type { ProbeAnswer } from "../../model/probe.ts";
import { isTimeUp } from "../../model/time-limit.ts";
import { poll } from "../../polling/poll.ts";
import { type ApplyContext, driverOf } from "../context.ts";
import { askObject, sharedAt, valuesToAskWith } from "../probe-object.ts";

/** Tries the resource itself for at most `timeout` ms. One that does not answer is a warning: it may be unreachable from here on purpose. */
export async function untilUsable(
  step: Step,
  ref: Ref,
  live: Live,
  timeout: number,
  context: ApplyContext,
): Promise<void> {
  const driver = driverOf(context, step.kind);
  const { endpoint } = context.profile.timing;
  const canTry = driver.usable !== undefined || driver.probe !== undefined;
  if (!canTry || live.phase.is !== "ready" || step.spec === undefined || endpoint === 0) return;
  const spec = valuesToAskWith(step.spec, context);
  let last: Usable | undefined;
  const look = async (): Promise<Usable | undefined> => {
    const shared = sharedAt(step, live, context);
    if (shared !== undefined) return { is: "unknown", detail: shared.reason };
    return driver.usable === undefined
      ? loginOf(await askObject(step, live, context))
      : driver.usable(live, spec, context.stopping);
  };
  const evaluate = (usable: Usable | undefined): Usable | undefined => {
    last = usable;
    return usable?.is === "not-yet" ? undefined : usable;
  };
  const deadline = context.clock.now() + Math.min(timeout, endpoint);
  await poll({ look, evaluate, deadline }, context).catch((error: unknown) => {
    if (!context.stopping.aborted && !isTimeUp(error)) throw error;
    last = undefined;
  });
  if (last === undefined || last.is === "usable" || last.detail === "") return;
  context.emit({ type: "warning", address: step.address, message: `${ref.id}: ${last.detail}` });
}

/** A probe as a try: only a refused login is waited for. */
function loginOf(answer: ProbeAnswer | undefined): Usable {
  if (answer?.is === "refused") return { is: "not-yet", detail: answer.reason };
  return { is: answer?.is === "answered" ? "usable" : "unknown", detail: "" };
}
