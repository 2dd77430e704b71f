import { GraphformError, isServiceError } from "../model/errors.ts";
import { stableJson } from "../model/json.ts";
import type { Step } from "../model/plan.ts";
import type { Intent } from "../model/state.ts";
import { bindSpec, recordOf } from "./bind.ts";
import type { ApplyContext, StepResult } from "./context.ts";
import { driverOf, kindOf } from "./context.ts";
import { findLost } from "./lost.ts";
import { settle } from "./settle.ts";

/** How often a create that surely made nothing is sent again. */
const attempts = 4;

/**
 * Creates happen once (design: safety). The intent is durable before the request is sent, the id is durable before
 * anything else happens, and a lost answer is resolved by listing. Then it is waited for.
 */
export async function create(step: Step, context: ApplyContext): Promise<StepResult> {
  const spec = step.spec ?? {};
  const kind = kindOf(context, step.kind);
  const classKey = `${step.kind} ${kind.classOf(spec)}`;
  const placed = { ...step, place: kind.place(bindSpec(step.kind, spec, context)) };
  const id = await context.oneAtATime(classKey, () => acknowledged(placed, classKey, context));
  return settle(placed, { id, place: placed.place }, "create", undefined, context);
}

async function acknowledged(step: Step, classKey: string, context: ApplyContext): Promise<string> {
  const open = context.journal.state.intents[step.address];
  if (open !== undefined) {
    const known = await resume(step, open, context);
    if (known !== undefined) return known;
  }
  for (let attempt = 1; ; attempt += 1) {
    const intent = await announce(step, classKey, context);
    const id = await send(step, intent, attempt, context);
    if (id !== undefined) {
      await acknowledge(step, id, context);
      return id;
    }
    if (attempt === attempts) {
      throw new GraphformError(
        "create-lost",
        `the service lost the create of ${step.address} ${attempts} times`,
        {
          hint: "nothing was created; run apply again when the service is well",
        },
      );
    }
  }
}

/** An intent of a run that was cut off: its object is looked for before a new create is sent. */
async function resume(step: Step, intent: Intent, context: ApplyContext): Promise<string | undefined> {
  const until = context.clock.now() + context.profile.timing.listLag;
  const found = await findLost(step.address, intent, until, context);
  if (found === undefined) return undefined;
  await acknowledge(step, found.id, context);
  return found.id;
}

async function announce(step: Step, classKey: string, context: ApplyContext): Promise<Intent> {
  const spec = step.spec ?? {};
  const before = await driverOf(context, step.kind).list(step.place, context.stopping);
  const recorded = { ...step.record, ...recordOf(spec, context) };
  const intent: Intent = {
    kind: step.kind,
    place: step.place,
    classKey,
    digest: context.digest(stableJson(recorded)),
    startedAt: new Date(context.clock.now()).toISOString(),
    before,
    recorded,
    protect: step.protect ?? true,
    onDelete: step.onDelete ?? "delete",
    refs: step.refs ?? [],
  };
  try {
    await context.journal.announce(step.address, intent);
  } catch (error) {
    // Not durable, so not sent: what other steps write next must not say that it was.
    await context.journal.abandon(step.address).catch(() => undefined);
    throw error;
  }
  return intent;
}

/** Sends the create once. Resolves with undefined where it surely made nothing and may be sent again. */
async function send(
  step: Step,
  intent: Intent,
  attempt: number,
  context: ApplyContext,
): Promise<string | undefined> {
  try {
    context.stopping.throwIfAborted();
    return await driverOf(context, step.kind).create(
      bindSpec(step.kind, step.spec ?? {}, context),
      context.aborting,
    );
  } catch (error) {
    if (context.aborting.aborted) throw error;
    if (!isServiceError(error) || !error.mayHaveWorked) {
      await context.journal.abandon(step.address);
      const again =
        isServiceError(error, "busy") ||
        isServiceError(error, "unavailable") ||
        isServiceError(error, "rate-limited");
      if (!again || attempt === attempts) throw error;
      await context.clock.sleep(
        error.retryAfter ?? context.profile.timing.poll.longest * attempt,
        context.stopping,
      );
      return undefined;
    }
    const wait = error.status === 503 ? context.profile.timing.settle : context.profile.timing.listLag;
    const found = await findLost(step.address, intent, context.clock.now() + wait, context);
    if (found === undefined) await context.journal.abandon(step.address);
    return found?.id;
  }
}

async function acknowledge(step: Step, id: string, context: ApplyContext): Promise<void> {
  const now = new Date(context.clock.now()).toISOString();
  await context.journal.acknowledge(step.address, {
    id,
    createdAt: now,
    converging: { operation: "create", since: now, record: {} },
  });
}
