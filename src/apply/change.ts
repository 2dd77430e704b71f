import { GraphformError, isServiceError } from "../model/errors.ts";
import { type JsonObject, stableJson } from "../model/json.ts";
import type { Live, Ref } from "../model/observed.ts";
import type { Step } from "../model/plan.ts";
import { bindSpec, recordOf } from "./bind.ts";
import type { ApplyContext, StepResult } from "./context.ts";
import { driverOf, kindOf } from "./context.ts";
import { converge } from "./converge.ts";
import { persist, type Sent, type Verdict } from "./persist.ts";
import { broughtAbout, isStale, stale } from "./precondition.ts";
import { arrivalsOf, settle } from "./settle.ts";

/** Updates in place: looks, checks that the decision still holds, sends only what changed, waits. */
export async function update(step: Step, context: ApplyContext): Promise<StepResult> {
  const patch = step.patch ?? {};
  const record = recordOf(patch, context);
  return upon(step, "update", record, context, async (ref) => {
    const body = bindSpec(step.kind, patch, context);
    await announced(step, Object.keys(record), context, () =>
      driverOf(context, step.kind).update(ref, body, context.aborting),
    );
  });
}

/**
 * Sends an update that is announced in the state: a run that is cut off must not leave values behind as known that may
 * be others by now. What surely did nothing leaves everything as it was.
 */
async function announced(
  step: Step,
  paths: readonly string[],
  { journal }: ApplyContext,
  send: () => Promise<void>,
): Promise<void> {
  const known = journal.state.resources[step.address];
  await journal.begins(step.address, paths);
  try {
    await send();
  } catch (error) {
    const didNothing = isServiceError(error) && !error.mayHaveWorked;
    if (didNothing && known !== undefined) await journal.bind(step.address, known);
    throw error;
  }
}

/** One lifecycle operation; nothing is sent where the resource is there already. */
export async function operate(step: Step, context: ApplyContext): Promise<StepResult> {
  const verb = step.verb ?? "";
  return upon(step, verb, reachedBy(verb, step, context), context, (ref) =>
    driverOf(context, step.kind).operate(ref, verb, context.aborting, step.choices),
  );
}

/** What a verb sets of the fields that are managed here, so that its doing is not taken for somebody else's. */
function reachedBy(verb: string, step: Step, context: ApplyContext): { readonly [path: string]: string } {
  const recorded = context.journal.state.resources[step.address]?.recorded ?? {};
  const reached = Object.entries(kindOf(context, step.kind).schema.properties).flatMap(
    ([path, row]): [string, string][] => {
      const transition = Object.entries(row["x-operations"] ?? {}).find(([, leads]) => leads === verb)?.[0];
      const isManaged = recorded[path] !== undefined || step.spec?.[path] !== undefined;
      return transition === undefined || !isManaged
        ? []
        : [[path, transition.slice(transition.indexOf(">") + 1)]];
    },
  );
  return Object.fromEntries(reached);
}

/** Goes on waiting for what an earlier run began. */
export async function wait(step: Step, context: ApplyContext): Promise<StepResult> {
  const ref = refOf(step, context);
  const converging = context.journal.state.resources[step.address]?.converging;
  if (converging !== undefined) {
    return settle(
      step,
      ref,
      converging.operation,
      converging.operation === "create" ? undefined : "first-look",
      context,
    );
  }
  const rest = await atRest(step, ref, context);
  return rest.is === "arrived" && rest.live !== undefined
    ? { result: "done", id: ref.id }
    : unready(ref, rest.is);
}

async function upon(
  step: Step,
  operation: string,
  record: { readonly [path: string]: NonNullable<Step["record"]>[string] },
  context: ApplyContext,
  send: (ref: Ref) => Promise<void>,
): Promise<StepResult> {
  const ref = refOf(step, context);
  const before = await atRest(step, ref, context);
  if (before.is !== "arrived" || before.live === undefined) return unready(ref, before.is);
  if (isThere(operation, before.live)) return settle(step, ref, operation, undefined, context);
  const done = before.live.phase.is === "failed" ? "no" : broughtAbout(record, step, before.live, context);
  const isStaleNow = isStale(step, before.live, context);
  if (done === "all" && (operation === "update" || isStaleNow)) {
    await context.journal.accepted(step.address, { operation, since: nowIn(context), record });
    return settle(step, ref, operation, undefined, context);
  }
  if (done === "no" && isStaleNow) return stale(step, ref, before.live);
  const look = (): Promise<Live | undefined> => driverOf(context, step.kind).get(ref, context.stopping);
  const timeout = step.timeout ?? context.profile.timing.timeout[operation] ?? 40 * 60_000;
  let perhaps = false;
  const after = (live: Live | undefined, { mayHaveWorked, ago }: Sent): Verdict => {
    perhaps = mayHaveWorked;
    if (isThere(operation, live) || (mayHaveWorked && live?.phase.is === "pending")) return "accepted";
    if (live === undefined || live.phase.is === "pending") return "again";
    const shows = broughtAbout(record, step, live, context);
    const isNew = shows === "all" || (shows === "shown" && done === "no");
    if (mayHaveWorked && isNew && live.phase.is !== "failed") return "accepted";
    if (isStale(step, live, context) && shows === "no") {
      throw new GraphformError("step-stale", stale(step, ref, live).message ?? "", {
        exitCode: 6,
        hint: "make a new plan",
      });
    }
    const isHidden = Object.keys(record).every((path) => live.spec[path] === undefined);
    const isSilent = shows === "shown" || (isHidden && !isVerbOfPower(operation));
    if (mayHaveWorked) return doubted(live, before.live, isSilent, ago, context);
    return "again";
  };
  const last = await persist(() => send(ref), after, look, timeout, context);
  await context.journal.accepted(step.address, { operation, since: nowIn(context), record });
  if (step.unattended === true) return { result: "done", id: ref.id };
  if (!perhaps) return settle(step, ref, operation, last ?? before.live, context);
  // What moves now may be the work of a request before, whose answer was lost; or somebody else's, if it ends elsewhere.
  return settle(step, ref, operation, "first-look", context, arrivalsOf(operation, before.live));
}

function nowIn({ clock }: ApplyContext): string {
  return new Date(clock.now()).toISOString();
}

/** True where nothing is left to ask for: what is to be stopped is stopped, what is to be started runs. */
function isThere(operation: string, live: Live | undefined): boolean {
  return (
    isVerbOfPower(operation) && live !== undefined && arrivalsOf(operation, undefined).includes(live.phase.is)
  );
}

/**
 * What is at rest, and does not show that it was done, after an answer that was lost: where a field or the status would
 * show it, it was not done; else the modification time tells, and where nothing tells it is sent but once more.
 */
function doubted(
  live: Live,
  before: Live | undefined,
  isSilent: boolean,
  ago: number,
  { profile }: ApplyContext,
): Verdict {
  if (isSilent && before !== undefined && wasTouched(live, before)) return "accepted";
  if (ago < profile.timing.settle) return "wait";
  return isSilent ? "unproven" : "again";
}

/** Where it has led shows in the status. */
function isVerbOfPower(operation: string): boolean {
  return operation === "start" || operation === "stop";
}

/** True where only the modification time has moved since: something was done, and nothing that would be somebody else's. */
function wasTouched(live: Live, before: Live): boolean {
  const { modifiedAt } = live;
  if (modifiedAt === undefined || before.modifiedAt === undefined || modifiedAt === before.modifiedAt)
    return false;
  const isSame = live.phase.is === before.phase.is || before.phase.is === "failed";
  return isSame && stableJson(shownOf(live)) === stableJson(shownOf(before));
}

function shownOf({ spec }: Live): JsonObject {
  return Object.fromEntries(Object.entries(spec).map(([path, seen]) => [path, seen.value]));
}

/** What is in the middle of something is waited for before anything is asked of it. */
async function atRest(
  step: Step,
  ref: Ref,
  context: ApplyContext,
): Promise<Awaited<ReturnType<typeof converge>>> {
  const timeout = step.timeout ?? context.profile.timing.timeout["update"] ?? 40 * 60_000;
  const phases = ["ready", "stopped", "failed"] as const;
  const since = context.clock.now();
  const hiddenUntil = since + context.profile.timing.listLag;
  return converge({ kind: step.kind, ref, phases, since, hiddenUntil, timeout }, step, context);
}

function unready(ref: Ref, is: string): StepResult {
  if (is === "timeout") {
    return {
      result: "converging",
      id: ref.id,
      message: `${ref.id} is busy with something else`,
      hint: "run apply again",
    };
  }
  if (is === "interrupted") return { result: "interrupted", id: ref.id };
  if (is === "waiting-for-person")
    return { result: "waiting-for-person", id: ref.id, message: `${ref.id} waits for a person` };
  return { result: "stale", id: ref.id, message: `${ref.id} is gone`, hint: "make a new plan" };
}

/** A verb after a create has no id in the plan: the state knows it by now. */
function refOf(step: Step, context: ApplyContext): Ref {
  const bound = context.journal.state.resources[step.address];
  return { id: step.id ?? bound?.id ?? "", place: bound?.place ?? step.place };
}
