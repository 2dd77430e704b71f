import type { Problem } from "../src/model/errors.ts";
import type { PhaseName, Source } from "../src/model/observed.ts";
import type { StepOutcome } from "../src/model/outcome.ts";
import type { Action, Effect, MayBe, Operation, OutputChange } from "../src/model/plan.ts";

/** The members of a union in this order. The checker refuses a list that lacks one, or has one more. */
function everyOf<Word extends string>(words: { readonly [word in Word]: true }): readonly Word[] {
  return Object.keys(words).filter((word): word is Word => word in words);
}

export const actions: readonly Action[] = everyOf<Action>({
  create: true,
  update: true,
  replace: true,
  migrate: true,
  delete: true,
  adopt: true,
  move: true,
  forget: true,
  keep: true,
});

export const operations: readonly Operation[] = everyOf<Operation>({
  create: true,
  update: true,
  migrate: true,
  heal: true,
  delete: true,
  operate: true,
  backup: true,
  bind: true,
  forget: true,
  wait: true,
  move: true,
});

type Result = StepOutcome["result"];

export const results: readonly Result[] = everyOf<Result>({
  done: true,
  failed: true,
  blocked: true,
  skipped: true,
  converging: true,
  "waiting-for-person": true,
  stale: true,
  interrupted: true,
});

export const effects: readonly Effect[] = everyOf<Effect>({ "in-place": true, replace: true });

export const sources: readonly Source[] = everyOf<Source>({
  probed: true,
  described: true,
  echoed: true,
  recorded: true,
});

export const phases: readonly PhaseName[] = everyOf<PhaseName>({
  ready: true,
  stopped: true,
  pending: true,
  failed: true,
  gone: true,
  "waiting-for-person": true,
});

type Likeness = MayBe["is"];

export const likenesses: readonly Likeness[] = everyOf<Likeness>({ marked: true, named: true, alike: true });

type OutputAction = OutputChange["action"];

export const outputActions: readonly OutputAction[] = everyOf<OutputAction>({
  "no-op": true,
  create: true,
  update: true,
  delete: true,
});

type Severity = Problem["severity"];

export const severities: readonly Severity[] = everyOf<Severity>({ error: true, warning: true });
