import { isGraphformError } from "../model/errors.ts";
import type { StepOutcome } from "../model/outcome.ts";
import type { Operation, Step } from "../model/plan.ts";
import { operate, update, wait } from "./change.ts";
import type { ApplyContext, StepResult } from "./context.ts";
import { create } from "./create.ts";
import { bind, forget, move } from "./remember.ts";
import { remove } from "./remove.ts";

const handlers: {
  readonly [operation in Operation]: (step: Step, context: ApplyContext) => Promise<StepResult>;
} = {
  create,
  update,
  operate,
  wait,
  bind,
  forget,
  move,
  delete: remove,
};

/**
 * Carries out the steps of a plan: each as soon as everything before it is done, all of them at once otherwise. What
 * is bounded is requests in flight, never resources being waited for. A step that fails stops only what needs it.
 */
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
  before: readonly StepOutcome[],
  context: ApplyContext,
): Promise<StepOutcome> {
  const started = context.clock.now();
  const outcome = (result: StepResult): StepOutcome => {
    const { key, address, kind, operation } = step;
    const verb = step.verb === undefined ? {} : { verb: step.verb };
    return { key, address, kind, operation, ...verb, ...result, elapsed: context.clock.now() - started };
  };
  const [guard] = step.blocked;
  if (guard !== undefined) return outcome({ result: "blocked", message: guard.message, hint: guard.lift });
  const missing = before.find((other) => other.result !== "done");
  if (missing !== undefined) {
    const result = missing.result === "interrupted" ? "interrupted" : "skipped";
    return outcome({ result, message: `not started: ${missing.address} is not done` });
  }
  if (context.stopping.aborted) return outcome({ result: "interrupted", message: "not started" });
  const { key, address, kind, operation, verb } = step;
  const id = operation === "create" ? undefined : step.id;
  context.emit({
    type: "step-start",
    key,
    address,
    kind,
    operation,
    ...(verb === undefined ? {} : { verb }),
    ...(id === undefined ? {} : { id }),
  });
  const ended = outcome(await handle(step, context));
  context.emit({ type: "step-end", outcome: ended });
  return ended;
}

async function handle(step: Step, context: ApplyContext): Promise<StepResult> {
  const misfit = bindingMisfit(step, context);
  if (misfit !== undefined) return { result: "stale", message: misfit, hint: "make a new plan" };
  try {
    return await handlers[step.operation](step, context);
  } catch (error) {
    if (context.stopping.aborted)
      return { result: "interrupted", message: "interrupted; the next run finishes it" };
    if (!isGraphformError(error)) return { result: "failed", message: `unexpected: ${String(error)}` };
    const stale = error.exitCode === 6;
    return {
      result: stale ? "stale" : "failed",
      message: error.message,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    };
  }
}

/**
 * What the state binds now must be what the plan was made for: a create needs a free address, or the object there that
 * the plan knows to be gone; a binding needs a free address or its object; the rest needs its object.
 */
function bindingMisfit(step: Step, context: ApplyContext): string | undefined {
  const bound = context.journal.state.resources[step.address];
  if (step.operation === "create")
    return bound === undefined || bound.id === step.id
      ? undefined
      : `${step.address} is bound to ${bound.id} already`;
  const needsObject = ["update", "delete", "wait"].includes(step.operation);
  const isFree = bound === undefined && step.operation === "bind";
  if (!(needsObject || step.operation === "bind") || isFree || bound?.id === step.id) return undefined;
  return bound === undefined
    ? `${step.address} is bound to nothing any more`
    : `${step.address} is bound to ${bound.id} now`;
}
