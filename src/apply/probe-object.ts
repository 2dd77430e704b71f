/** @module Asks the running object of a step itself: before a write, until it answers, and after an update. */
import { GraphformError } from "../model/errors.ts";
import { fieldRows, rowAt } from "../model/field-schema.ts";
import type { Usable } from "../model/kind.ts";
import type { Live, Ref } from "../model/observed.ts";
import type { Step } from "../model/plan.ts";
import type { ProbeAnswer } from "../model/probe.ts";
import { filledIn } from "../model/templates.ts";
import { isTimeUp } from "../model/time-limit.ts";
import { sameValue } from "../model/values.ts";
import { type Answer, askObject, requestTo, type Surroundings } from "../polling/ask-objects.ts";
import { poll } from "../polling/poll.ts";
import { type ApplyContext, driverOf } from "./context.ts";

/** The facts with which the running object of a step is asked. */
export function surroundingsOf({ kinds, open, journal, outputs, stateAtStart }: ApplyContext): Surroundings {
  return {
    kinds,
    open,
    state: stateAtStart,
    outputsOf: (address) => outputs.get(address),
    hostSpec: (address) => journal.state.resources[address]?.recorded ?? {},
    namesAt: (endpoint) =>
      [...outputs].flatMap(([name, shown]) => (shown["endpoint"] === endpoint ? name : [])),
  };
}

/** Asks once; undefined if the kind cannot be asked. */
async function ask(step: Step, live: Live, context: ApplyContext): Promise<Answer | undefined> {
  const { probe } = driverOf(context, step.kind);
  return probe && askObject(step, live, probe, surroundingsOf(context), context.stopping);
}

/** A look with the running object's own values at the paths that a probe was planned from; nothing if it does not answer. */
export async function withProbedPaths(step: Step, live: Live, context: ApplyContext): Promise<Live> {
  return isAsked(step, live) ? withShown(step, live, await ask(step, live, context)) : live;
}

/** The same just before a write. Throws `not-asked` if the running object does not answer: the precondition is unknown then. */
export async function probedBaseline(step: Step, live: Live, context: ApplyContext): Promise<Live> {
  if (!isAsked(step, live)) return live;
  const answer = await ask(step, live, context);
  const baseline = withShown(step, live, answer);
  const reason = answer?.is === "answered" ? answer.denied : answer?.reason;
  if (reason === undefined || step.probed?.every((path) => baseline.spec[path] !== undefined))
    return baseline;
  const message = `${live.id} could not be asked again, and nothing was sent: ${reason}`;
  throw new GraphformError("not-asked", message, { hint: "apply again once its database answers" });
}

/** True if the step was planned from values of the running object, and it may be asked again. */
function isAsked({ probed = [] }: Step, { phase }: Live): boolean {
  return probed.length > 0 && phase.is === "ready";
}

function withShown({ probed = [] }: Step, live: Live, answer: Answer | undefined): Live {
  const others = Object.entries(live.spec).filter(([path]) => !probed.includes(path));
  const shown = probed.flatMap((path) => {
    const value = answer?.probed?.values[path];
    return value === undefined ? [] : [[path, { value, source: "probed" }] as const];
  });
  return { ...live, spec: Object.fromEntries([...others, ...shown]) };
}

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
  const canTry = (driver.usable ?? driver.probe) !== undefined && step.spec !== undefined;
  if (!canTry || live.phase.is !== "ready" || endpoint === 0) return;
  let last: Usable | undefined;
  const look = async (): Promise<Usable | undefined> => {
    const request = requestTo(step, live, surroundingsOf(context));
    if ("is" in request) return { is: "unknown", detail: request.reason };
    return driver.usable === undefined
      ? loginOf(await driver.probe?.(request, context.stopping))
      : driver.usable(live, request.spec, context.stopping);
  };
  const evaluate = (usable: Usable | undefined): Usable | undefined => {
    last = usable;
    return usable?.is === "not-yet" ? undefined : usable;
  };
  const deadline = context.clock.now() + Math.min(timeout, endpoint);
  const onPause = (): void => context.onStatus?.(step.key, last?.detail ?? "");
  await poll({ look, evaluate, deadline, onPause }, context).catch((error: unknown) => {
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

/** Finds paths that were sent, by the step or before without effect, for which the running object shows another value. Empty if it cannot be asked. */
export async function ineffectivePaths(
  step: Step,
  live: Live,
  context: ApplyContext,
): Promise<readonly string[]> {
  const { stopping, profile } = context;
  const rows = fieldRows(context.kinds.named(step.kind).schema);
  const declared = filledIn(step.spec ?? {}, (address) => context.outputs.get(address));
  const { ineffective: before = [], converging } = context.journal.state.resources[step.address] ?? {};
  // A step that waits for an update of an earlier run has sent nothing itself.
  const patch = step.patch ?? (converging?.operation === "update" ? converging.record : declared);
  const sent = new Set([...Object.keys(patch ?? {}), ...before]);
  const asked = Object.entries(declared).filter(([path]) => {
    const row = rowAt(rows, path);
    return sent.has(path) && row["x-probe"] !== undefined && row["x-create-only"] !== true;
  });
  if (asked.length === 0 || live.phase.is !== "ready" || profile.timing.endpoint === 0 || stopping.aborted)
    return [];
  const answer = await ask(step, live, context).catch((error: unknown) => {
    if (!stopping.aborted) throw error;
    return undefined;
  });
  const ineffective = asked.filter(([path, value]) => {
    const seen = answer?.probed?.values[path];
    return seen !== undefined && !sameValue(seen, value, rowAt(rows, path));
  });
  return ineffective.map(([path]) => path);
}
