/** @module Runs the steps of a plan, each as soon as the steps before it are done. */
import { exitCodes, type GraphformError, isGraphformError, isServiceError } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import { objectKey } from "../model/observed.ts";
import type { StepOutcome } from "../model/outcome.ts";
import type { Operation, Step } from "../model/plan.ts";
import type { Bound } from "../model/state.ts";
import { isTimeUp } from "../model/time-limit.ts";
import { type ApplyContext, type StepResult, stale, withOwnPatience } from "./context.ts";
import { update } from "./operations/change.ts";
import { create } from "./operations/create.ts";
import { backup, bind, forget, heal, move, operate, wait } from "./operations/operate.ts";
import { remove } from "./operations/remove.ts";

const handlers: {
  readonly [operation in Operation]: (step: Step, context: ApplyContext) => Promise<StepResult>;
} = {
  ...{ create, update, heal, operate, backup, wait, bind, forget, move },
  migrate: async (step, context) =>
    (await context.migrate?.(step, context)) ?? { result: "failed", message: "nothing here moves data" },
  delete: remove,
};

/** Carries out each step as soon as everything before it is done. A step that fails stops only what needs it. */
export async function run(steps: readonly Step[], context: ApplyContext): Promise<readonly StepOutcome[]> {
  const byKey = new Map(steps.map((step) => [step.key, step]));
  const running = new Map<string, Promise<StepOutcome>>();
  const start = (step: Step): Promise<StepOutcome> => {
    const known = running.get(step.key);
    if (known !== undefined) return known;
    const promise = Promise.resolve().then(async () => {
      const needed = step.after.map((key) => byKey.get(key)).filter((found) => found !== undefined);
      return runOne(step, await Promise.all(needed.map(start)), context);
    });
    running.set(step.key, promise);
    return promise;
  };
  return Promise.all(steps.map(start));
}

async function runOne(
  step: Step,
  prerequisites: readonly StepOutcome[],
  context: ApplyContext,
): Promise<StepOutcome> {
  const started = context.clock.now();
  const { key, address, kind, operation, verb } = step;
  const named = { key, address, kind, operation, ...defined({ verb }) };
  const outcome = (result: StepResult): StepOutcome => ({
    ...named,
    ...result,
    elapsed: context.clock.now() - started,
  });
  const refusal = refusalToStart(step, prerequisites, context.stopping.aborted);
  if (refusal !== undefined) return outcome(refusal);
  const id = operation === "create" ? undefined : step.id;
  context.emit({ type: "step-start", ...named, ...defined({ id }) });
  const ended = outcome(await handle(step, context));
  context.emit({ type: "step-end", outcome: ended });
  return ended;
}

/** The result of a step that is not started: it is blocked, something before it is not done, or the run is interrupted. */
export function refusalToStart(
  step: Pick<Step, "blocked" | "address">,
  prerequisites: readonly StepOutcome[],
  isStopping: boolean,
): StepResult | undefined {
  if (step.blocked.length > 0)
    return {
      result: "blocked",
      message: step.blocked.map(({ message }) => message).join("; "),
      hint: step.blocked.map(({ lift }) => lift).join("; and "),
    };
  const missing = prerequisites.find((other) => other.result !== "done");
  if (missing !== undefined) {
    const result = missing.result === "interrupted" ? "interrupted" : "skipped";
    const what = missing.address === step.address ? "what comes before" : missing.address;
    return { result, message: `not started: ${what} is not done` };
  }
  return isStopping ? { result: "interrupted", message: "not started" } : undefined;
}

async function handle(step: Step, context: ApplyContext): Promise<StepResult> {
  const rebound = otherBinding(step, context) ?? otherGuards(step, context);
  if (rebound !== undefined) return stale(rebound);
  try {
    return await handlers[step.operation](step, withOwnPatience(context));
  } catch (error) {
    const { id } = context.journal.state.resources[step.address] ?? step;
    if (context.stopping.aborted)
      return { result: "interrupted", ...defined({ id }), message: "the next run finishes it" };
    if (!isGraphformError(error))
      return { result: "failed", message: `unexpected: ${context.hide(String(error))}` };
    const isStale = error.exitCode === exitCodes.stale;
    return {
      result: isTimeUp(error) ? "converging" : isStale ? "stale" : "failed",
      ...defined({ id: step.id, hint: error.hint ?? (isServiceError(error) ? asAgain : undefined) }),
      message: withHost(error),
    };
  }
}

const asAgain = "run the command again once the service takes it: what has worked is not done again";

/** The message of an error, with the host that has answered so. */
function withHost(error: GraphformError): string {
  const { message } = error;
  const host = isServiceError(error) ? error.host : undefined;
  return host === undefined || message.includes(host) ? message : `${message}, from ${host}`;
}

/**
 * Says how the state's binding differs from the plan's: the address of a step with an id, or the one that it moves from, must be bound to
 * that object, except that a binding may find it free. A create has a check of its own, and steps after it use its new object.
 */
export function otherBinding(step: Step, { journal }: Pick<ApplyContext, "journal">): string | undefined {
  const { address, from, id, operation } = step;
  if (operation === "create" || id === undefined) return undefined;
  const { resources } = journal.state;
  const bound = resources[from ?? address] ?? resources[address];
  if (bound?.id === id || (bound === undefined && operation === "bind")) return undefined;
  return bound === undefined
    ? `${address} is bound to nothing any more`
    : `${address} is bound to ${bound.id} now`;
}

/** The reason to refuse a deletion whose guards have changed since the plan was made; undefined if there is none. */
export function otherGuards(step: Step, { stateAtStart }: ApplyContext): string | undefined {
  const { address, id, kind, place, remembered } = step;
  if (remembered === undefined || id === undefined) return undefined;
  const key = objectKey(kind, { id, place });
  const isIt = (bound: Bound): boolean => bound.id === id && objectKey(bound.kind, bound) === key;
  // A step that moves its object has another address than the state.
  const there = stateAtStart.resources[address];
  const atStart =
    there !== undefined && isIt(there) ? there : Object.values(stateAtStart.resources).find(isIt);
  const isSame =
    atStart === undefined ||
    (atStart.protect === remembered.protect && atStart.onDelete === remembered.onDelete);
  return isSame ? undefined : `the guards of ${id} have changed since the plan was made`;
}
