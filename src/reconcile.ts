import type { ApplyContext } from "./apply/context.ts";
import { findLost, isHomeGone } from "./apply/lost.ts";
import { oneAtATime } from "./apply/one-at-a-time.ts";
import { run } from "./apply/run.ts";
import { seenLists } from "./apply/seen-lists.ts";
import type { Address } from "./model/address.ts";
import type { Clock } from "./model/clock.ts";
import { GraphformError, isServiceError } from "./model/errors.ts";
import type { Journal } from "./model/journal.ts";
import type { JsonObject } from "./model/json.ts";
import type { Kind } from "./model/kind.ts";
import type { Manifest } from "./model/manifest.ts";
import type { ApplyEvent, StepOutcome } from "./model/outcome.ts";
import type { Plan, Step } from "./model/plan.ts";
import type { Open } from "./model/sealed.ts";
import type { Reads, Service } from "./model/service.ts";
import type { StateDocument } from "./model/state.ts";
import { observe } from "./observe/observe.ts";
import { withDeclaredGuards } from "./plan/declared-guards.ts";
import type { PlanOptions } from "./plan/input.ts";
import { afterMoves } from "./plan/moves.ts";
import { makePlan } from "./plan/plan.ts";
import { findByName } from "./plan/twins.ts";

/** What planning works with: the service's reading half, and nothing that could write. */
export interface PlanningWorld {
  readonly kinds: readonly Kind[];
  readonly service: Reads;
  readonly clock: Clock;
  readonly digest: (text: string) => string;
  readonly signal: AbortSignal;
}

/** What one plan is about. */
export interface Intention {
  readonly manifest: Manifest;
  readonly options: PlanOptions;
  /** ISO 8601: the newest of the manifest's files. */
  readonly timestamp: string;
  /** True for `destroy`. */
  readonly destroying: boolean;
}

/** A plan with what it was made from. */
export interface Planned {
  readonly plan: Plan;
  readonly outputs: ReadonlyMap<Address, JsonObject>;
}

/** observe, diff, cascade, order, guard: looks at the service and says what to do. Writes nothing anywhere. */
export async function planFor(
  intention: Intention,
  state: StateDocument,
  world: PlanningWorld,
): Promise<Planned> {
  const { manifest, options, destroying } = intention;
  const { kinds, service, signal } = world;
  const desired = destroying ? [] : manifest.desired;
  const readers = new Map(kinds.map((kind) => [kind.name, kind.reader(service)]));
  const moved = afterMoves(state, manifest.moved, kinds);
  const seen = await observe(desired, {
    kinds,
    readers,
    state: moved,
    now: world.clock.now(),
    listLag: service.profile.timing.listLag,
    settle: service.profile.timing.settle,
    signal,
  });
  const { observed, unmanaged } = findByName(seen, { desired, state: moved, kinds });
  const plan = makePlan({
    name: manifest.name,
    timestamp: [intention.timestamp, state.savedAt].sort().at(-1) ?? intention.timestamp,
    desired,
    state: destroying
      ? withDeclaredGuards(state, { desired: manifest.desired, moved: manifest.moved, kinds })
      : state,
    observed,
    unmanaged,
    kinds,
    profile: service.profile,
    guards: manifest.guards,
    moved: manifest.moved,
    removed: manifest.removed,
    outputs: destroying ? {} : manifest.outputs,
    options,
    destroying,
    digest: world.digest,
  });
  return { plan, outputs: new Map([...observed].map(([address, live]) => [address, live.outputs])) };
}

/** What applying works with besides the plan. */
export interface ApplyWorld {
  readonly kinds: readonly Kind[];
  readonly service: Service;
  readonly clock: Clock;
  readonly digest: (text: string) => string;
  readonly journal: Journal;
  readonly open: Open;
  readonly emit: (event: ApplyEvent) => void;
  readonly stopping: AbortSignal;
  readonly aborting: AbortSignal;
}

/** Executes a plan and nothing else; the plan is burnt first, so that it runs once. */
export async function applyPlan(planned: Planned, world: ApplyWorld): Promise<readonly StepOutcome[]> {
  if (planned.plan.steps.length > 0) await world.journal.burn(planned.plan.fingerprint);
  return carryOut(planned.plan.steps, world, planned.outputs);
}

/** Carries out steps that no manifest asked for: one lifecycle operation, bindings. */
export async function carryOut(
  steps: readonly Step[],
  world: ApplyWorld,
  outputs: ReadonlyMap<Address, JsonObject> = new Map(),
): Promise<readonly StepOutcome[]> {
  return run(steps, applyContext(world, outputs));
}

/**
 * Creates that an earlier run announced and never saw acknowledged: their objects are looked for before anything is
 * planned. A saved plan resolves those that it creates itself, and is stale where another one is found (exit 6).
 */
export async function resolveIntents(world: ApplyWorld, saved?: Plan): Promise<void> {
  const context = applyContext(world, new Map());
  const open = Object.entries(world.journal.state.intents);
  // The newest first: what it made is none of those before it, and what those made was there before it.
  for (const [address, intent] of open.toSorted(([, a], [, b]) => b.startedAt.localeCompare(a.startedAt))) {
    if (saved?.steps.some((step) => step.address === address && step.operation === "create")) continue;
    // When the request was really sent nobody knows: it may have waited for its turn until the run was cut off.
    const until = world.clock.now() + world.service.profile.timing.listLag;
    const found = await findLost(address, intent, until, context).catch(async (error: unknown) => {
      if (isServiceError(error) && !world.stopping.aborted && (await isHomeGone(intent, context)))
        return undefined;
      throw error;
    });
    const since = new Date(world.clock.now()).toISOString();
    const converging = { operation: "create", since, record: {} };
    if (found === undefined) await world.journal.abandon(address);
    else
      await world.journal.acknowledge(address, {
        id: found.id,
        createdAt: since,
        converging,
      });
    if (found !== undefined && saved !== undefined) throw unknownToPlan(address, found.id);
  }
}

function unknownToPlan(address: Address, id: string): GraphformError {
  return new GraphformError(
    "plan-stale",
    `${id} was created for ${address} by a run that was cut off, and this plan does not know it`,
    { hint: "make a new plan", exitCode: 6 },
  );
}

function applyContext(world: ApplyWorld, outputs: ReadonlyMap<Address, JsonObject>): ApplyContext {
  return {
    ...world,
    drivers: new Map(world.kinds.map((kind) => [kind.name, kind.driver(world.service)])),
    profile: world.service.profile,
    outputs: new Map(outputs),
    outputsBefore: outputs,
    before: world.journal.state,
    durations: new Map(),
    lists: seenLists(world.clock.now, world.service.profile.timing.settle),
    oneAtATime: oneAtATime(),
  };
}
