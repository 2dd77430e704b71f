import { GraphformError, isGraphformError, isServiceError, ServiceError } from "../model/errors.ts";
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
  const { id, intent } = await context.oneAtATime(classKey, () => acknowledged(placed, classKey, context));
  try {
    return await settle(placed, { id, place: placed.place }, "create", undefined, context);
  } catch (error) {
    if (!isGraphformError(error) || error.code !== "never-there") throw error;
    // The answer was nonsense: the next run looks for what the create has made, as if the answer had been lost.
    await context.journal.announce(placed.address, intent);
    await context.journal.release(placed.address);
    throw error;
  }
}

interface Acknowledged {
  readonly id: string;
  readonly intent: Intent;
}

async function acknowledged(step: Step, classKey: string, context: ApplyContext): Promise<Acknowledged> {
  const { intents } = context.journal.state;
  const open = intents[step.address];
  if (open !== undefined) {
    const known = await resume(step, open, context);
    if (known !== undefined) return { id: known, intent: open };
  }
  const unsolved = Object.keys(intents).find(
    (address) => address !== step.address && intents[address]?.classKey === classKey,
  );
  if (unsolved !== undefined) throw unsent(step.address, unsolved);
  for (let attempt = 1; ; attempt += 1) {
    const intent = await announce(step, classKey, context);
    const id = await send(step, intent, attempt, context);
    if (id !== undefined) {
      await acknowledge(step, id, context);
      return { id, intent };
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

/** Another of its class would be one more object that could be the lost one. */
function unsent(address: string, unsolved: string): GraphformError {
  return new GraphformError(
    "create-unsent",
    `the create of ${address} was not sent: whether that of ${unsolved} has made anything is not known yet`,
    { hint: "run apply again: it finds out first" },
  );
}

/** An intent of a run that was cut off: its object is looked for before a new create is sent. */
async function resume(step: Step, intent: Intent, context: ApplyContext): Promise<string | undefined> {
  const until = context.clock.now() + context.profile.timing.listLag;
  const found = await findLost(step.address, intent, until, context);
  if (found === undefined) return undefined;
  await acknowledge(step, found.id, context);
  if (intent.digest === digestOf(recordedOf(step, context), context)) return found.id;
  throw new GraphformError(
    "step-stale",
    `${found.id} is there for ${step.address}, from a create that an earlier run had begun with other values`,
    { exitCode: 6, hint: "make a new plan" },
  );
}

/** What the state will remember of what this step creates. */
function recordedOf(step: Step, context: ApplyContext): Intent["recorded"] {
  return { ...step.record, ...recordOf(step.spec ?? {}, context) };
}

function digestOf(recorded: Intent["recorded"], { digest }: ApplyContext): string {
  return digest(stableJson(recorded));
}

async function announce(step: Step, classKey: string, context: ApplyContext): Promise<Intent> {
  const askedAt = context.clock.now();
  const before = await driverOf(context, step.kind).list(step.place, context.stopping);
  context.lists.listed(step.kind, step.place, before, askedAt);
  const recorded = recordedOf(step, context);
  const intent: Intent = {
    kind: step.kind,
    place: step.place,
    classKey,
    digest: digestOf(recorded, context),
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
    const id = await driverOf(context, step.kind).create(
      bindSpec(step.kind, step.spec ?? {}, context),
      context.aborting,
    );
    assertOurs(step, id, intent, context);
    context.lists.made(step.kind, step.place, id);
    return id;
  } catch (error) {
    if (context.aborting.aborted) throw error;
    if (!isServiceError(error) || !error.mayHaveWorked) {
      const made = isServiceError(error) ? await madeAllTheSame(step, intent, error, context) : undefined;
      if (made !== undefined) return made;
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
    const { settle, listLag } = context.profile.timing;
    // A 503 was taken by no service, most likely: the more often lists were prompt so far, the sooner that is believed.
    const promptly = error.status === 503 ? context.lists.prompt(step.kind) : 0;
    const wait = Math.max(settle, listLag / (1 + promptly));
    const found = await findLost(step.address, intent, context.clock.now() + wait, context);
    if (found === undefined) await context.journal.abandon(step.address);
    return found?.id;
  }
}

/**
 * Throws where the answer names an object that is another address's already, or that was there before: that says nothing
 * about this create.
 */
function assertOurs(step: Step, id: string, intent: Intent, context: ApplyContext): void {
  const taken = Object.entries(context.journal.state.resources).find(
    ([address, bound]) =>
      address !== step.address &&
      bound.kind === step.kind &&
      bound.id === id &&
      stableJson(bound.place) === stableJson(step.place),
  );
  if (taken === undefined && !intent.before.includes(id)) return;
  const whose = taken === undefined ? "was there before" : `is ${taken[0]} already`;
  const message = `the answer to the create of ${step.address} names ${id}, which ${whose}`;
  throw new ServiceError("shape", "create", message, { mayHaveWorked: true });
}

/**
 * A refusal is believed after one look: a gateway that sends a request twice passes on the refusal of the second. After
 * a conflict there is time for lists to catch up. Resolves with undefined where nothing new is there, and at once where
 * the service was not reached.
 */
async function madeAllTheSame(
  step: Step,
  intent: Intent,
  refusal: ServiceError,
  context: ApplyContext,
): Promise<string | undefined> {
  if (refusal.failure === "unavailable" || refusal.failure === "unauthorized") return undefined;
  const pause = refusal.failure === "conflict" ? context.profile.timing.listLag : 0;
  const found = await findLost(step.address, intent, context.clock.now() + pause, context);
  return found?.id;
}

async function acknowledge(step: Step, id: string, context: ApplyContext): Promise<void> {
  const now = new Date(context.clock.now()).toISOString();
  await context.journal.acknowledge(step.address, {
    id,
    createdAt: now,
    converging: { operation: "create", since: now, record: {} },
  });
}
