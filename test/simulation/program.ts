import { kinds as realKinds } from "../../src/kinds/index.ts";
import type { Clock } from "../../src/model/clock.ts";
import { GraphformError, isGraphformError } from "../../src/model/errors.ts";
import { defined } from "../../src/model/json.ts";
import { type Kind, type KindRegistry, kindRegistry } from "../../src/model/kind.ts";
import type { Outcome, StepOutcome } from "../../src/model/outcome.ts";
import type { Plan, PlanOptions } from "../../src/model/plan.ts";
import type { Service } from "../../src/model/service.ts";
import type { StateDocument } from "../../src/model/state.ts";
import type { Journal } from "../../src/model/state-event.ts";
import { whileHeld } from "../../src/project/open-run.ts";
import type { ApplyDependencies } from "../../src/reconcile/apply-plan.ts";
import { type Goal, planFor } from "../../src/reconcile/plan-for.ts";
import { type RunReport, reconcile } from "../../src/reconcile/reconcile.ts";
import { claimState, isEmpty } from "../../src/state/claim-state.ts";
import { emptyState, isPlanApplied } from "../../src/state/document.ts";
import { openJournal } from "../../src/state/journal.ts";
import type { DurableStore, Lock } from "../../src/state/store.ts";
import { createVault } from "../../src/state/vault.ts";
import { connection } from "./connection.ts";
import { manifestOf } from "./manifest-of.ts";
import type { Oracle } from "./oracle.ts";
import { letGo, type Proc } from "./proc.ts";
import type { Shared } from "./shared.ts";
import { begins, checkKept, leaseEnds, openShared } from "./shared-store.ts";
import { type SimStore, simStore } from "./sim-store.ts";
import type { SavedCase, World } from "./world.ts";

/** How a run ended. */
export interface Ended {
  readonly is: "done" | "locked" | "error";
  /** Of an error. */
  readonly code?: string;
  readonly steps: readonly StepOutcome[];
  /** The plan after the apply; absent where it was interrupted or failed before. */
  readonly second?: Plan;
  readonly certificate: Outcome["certificate"];
}

const nothing: Pick<Ended, "steps" | "certificate"> = { steps: [], certificate: [] };

/** One apply or destroy: under the lock, the run is that of the program (reconcile/reconcile.ts). */
export async function apply(process: Proc, world: World, oracle: Oracle, wait: number): Promise<Ended> {
  const clock = clockOf(process, world);
  if (world.shared !== undefined) return applyShared(process, world, world.shared, oracle, wait);
  if (!(await lock(process, world, clock, wait))) return { is: "locked", ...nothing };
  try {
    return await underLock(process, world, oracle, clock);
  } catch (error) {
    return failed(error, oracle);
  } finally {
    if (!process.dead && world.holder === process) world.holder = undefined;
  }
}

/** The same with a shared store: its lock may be lost meanwhile, and it may not answer. */
async function applyShared(
  process: Proc,
  world: World,
  shared: Shared,
  oracle: Oracle,
  wait: number,
): Promise<Ended> {
  const clock = clockOf(process, world);
  const store = openShared(process, shared, clock, world, oracle);
  try {
    const options = { clock, timeout: Math.max(wait, leaseEnds), signal: process.stopping.signal };
    const held = await store.lock("apply", options);
    begins(process, shared, world);
    held.lost.addEventListener("abort", () => letGo(process));
    return await whileHeld(held, () => applyWith(store, process, world, oracle, clock, held));
  } catch (error) {
    if (isGraphformError(error) && error.code === "locked") return { is: "locked", ...nothing };
    return failed(error, oracle);
  } finally {
    if (!process.dead) checkKept(process, shared, world, oracle);
    if (!process.dead && shared.owner === process) shared.owner = undefined;
  }
}

/** A plan by itself, which is kept where the run says so: without lock, and without a write anywhere. */
export async function plan(process: Proc, world: World, oracle: Oracle): Promise<Ended> {
  process.phase = "planning";
  try {
    const state = claimed(await stateOf(process, world, oracle), process, oracle);
    const { goal, service, kinds } = partsOf(process, world, oracle, state);
    const { signal } = process.stopping;
    const planning = { kinds, service, clock: clockOf(process, world), digest, signal };
    const planned = await planFor(goal, state, planning);
    oracle.says("plan", planned.plan);
    if (process.run.plan === "save") {
      world.saved = { plan: planned.plan, resources: process.run.resources, seen: process.seen };
    }
    return { is: "done", ...nothing };
  } catch (error) {
    return failed(error, oracle);
  }
}

async function underLock(process: Proc, world: World, oracle: Oracle, clock: Clock): Promise<Ended> {
  const store = simStore(process, world, oracle);
  try {
    return await applyWith(store, process, world, oracle, clock);
  } finally {
    await store.fold();
  }
}

async function applyWith(
  store: SimStore | DurableStore,
  process: Proc,
  world: World,
  oracle: Oracle,
  clock: Clock,
  held?: Lock,
): Promise<Ended> {
  // A shared store is read by whoever writes to it: the version that it knows is the one that it replaces.
  const stored = held === undefined ? await stateOf(process, world, oracle) : await store.read();
  const state = claimed(stored ?? newState(), process, oracle);
  const { service, kinds, vault, goal } = partsOf(process, world, oracle, state);
  const saved = process.run.plan === "use" ? world.saved : undefined;
  if (saved !== undefined) assertApplicable(saved, process, state);
  for (const [thing, { last }] of saved?.seen ?? []) process.seen.set(thing, { planned: last, last });
  const applying: ApplyDependencies = {
    kinds,
    service: held === undefined ? service : lookingFirst(service, held),
    clock,
    digest,
    journal: noting(openJournal(store, state, clock), process, oracle),
    open: vault.open,
    emit: (event) => oracle.hears(process, event),
    stopping: AbortSignal.any([process.stopping.signal, ...(held === undefined ? [] : [held.lost])]),
    aborting: process.aborting.signal,
  };
  const { pause } = process.run;
  const approve = async (): Promise<boolean> => {
    if (pause !== undefined) process.pauses();
    if (pause !== undefined) await clock.sleep(pause, process.stopping.signal);
    process.phase = "applying";
    return true;
  };
  let second: Plan | undefined;
  const report: RunReport = {
    plan(made) {
      process.plan = made;
      oracle.says("plan", made);
    },
    second(made) {
      second = made;
      oracle.says("plan", made);
    },
    outcome({ steps }) {
      oracle.says("outcome", steps);
      for (const { message = "" } of steps)
        if (message.startsWith("unexpected")) oracle.violate("defect", message);
    },
    warnings: () => [],
  };
  const request = { goal, saved: saved?.plan, approve };
  const outcome = await reconcile(request, applying, report);
  const { steps = [], certificate = [] } = outcome ?? {};
  return { is: "done", steps, certificate, ...defined({ second }) };
}

/** A service that looks at the lock before each write (project/dependencies.ts). */
function lookingFirst(service: Service, { look }: Lock): Service {
  return { ...service, write: (call, signal, unsent) => service.write(call, signal, unsent, look) };
}

/**
 * A journal that notes which objects the process knows to be its own. It is asked here whether something is recorded while
 * planning: a shared store may deliver the write of an earlier phase later.
 */
function noting(journal: Journal, process: Proc, oracle: Oracle): Journal {
  const judge = (what: string): void => {
    if (process.phase === "planning") oracle.violate("write during plan", `${process.name} recorded ${what}`);
  };
  return {
    ...journal,
    record(event) {
      // What another object was seen under a bound id is remembered before anything is planned (decision 38).
      if (event.type !== "another-seen") judge(event.type);
      if (event.type === "create-acknowledged") process.acknowledged.add(event.id);
      return journal.record(event);
    },
    bind(address, bound) {
      judge(`a binding of ${address}`);
      return journal.bind(address, bound);
    },
  };
}

/** The state as that of the service that this run is pointed at (commands/under-lock.ts). */
function claimed(state: StateDocument, { run }: Proc, oracle: Oracle): StateDocument {
  const at = (platform: string, path = "graphform.yaml"): StateDocument => {
    const service = { platform, keys: {}, locations: {} };
    return claimState(state, { service, manifest: { paths: [path] }, where: "simulated" });
  };
  const here = "https://service.example.com";
  if (run.elsewhere === undefined) return at(here);
  // An empty state belongs to nobody: the run would be right, and the other service is not played.
  if (isEmpty(state)) throw new GraphformError("state-service", "nothing is bound yet");
  const taken = run.elsewhere === "service" ? at("https://another.example.com") : at(here, "other.yaml");
  oracle.violate(`another ${run.elsewhere}`, `its state goes on as that of ${taken.service?.platform}`);
  return state;
}

/** A saved plan is applied once, and only while its manifest is what it was (project/saved-plan.ts). */
function assertApplicable(saved: SavedCase, { run }: Proc, state: StateDocument): void {
  const isSame = JSON.stringify(saved.resources) === JSON.stringify(run.resources);
  if (isSame && !isPlanApplied(state, saved.plan.fingerprint)) return;
  throw new GraphformError("plan-stale", "the saved plan does not hold any more", { exitCode: 6 });
}

interface Parts {
  readonly service: ReturnType<typeof connection>;
  readonly kinds: KindRegistry;
  readonly vault: ReturnType<typeof createVault>;
  readonly goal: Goal;
}

function partsOf(process: Proc, world: World, oracle: Oracle, state: StateDocument): Parts {
  const service = connection(process, world, oracle, clockOf(process, world));
  const kinds = kindRegistry(watched(process, service));
  const vault = createVault(state.key);
  const { does, replace = [], allowDestroy = [], targets = [], exclude = [], moved = [] } = process.run;
  const declared = process.run.resources.map(({ address }) => address);
  // Nobody allows or names what neither the manifest nor the state knows: the run would end with that.
  const known = new Set([...declared, ...Object.keys(state.resources), ...moved.map(([, to]) => to)]);
  for (const [from] of moved) known.delete(from);
  const options: PlanOptions = {
    targets: targets.filter((address) => known.has(address)),
    exclude: exclude.filter((address) => known.has(address)),
    replace: does === "destroy" ? [] : replace.filter((address) => declared.includes(address)),
    allowDestroy: allowDestroy.filter((address) => known.has(address)),
  };
  const manifest = manifestOf(process.run, vault.seal);
  const goal = { manifest, options, timestamp: state.savedAt, destroying: does === "destroy" };
  return { service, kinds, vault, goal };
}

/**
 * The real kinds. Who asks for a reader plans; a database answers when the simulated service says that it runs, and is asked
 * nothing else: a real connection would know nothing of virtual time.
 */
function watched(process: Proc, service: ReturnType<typeof connection>): readonly Kind[] {
  return realKinds.all.map((real): Kind => {
    const reader: Kind["reader"] = (reads) => {
      process.phase = "planning";
      const { probe: _probe, ...rest } = real.reader(reads);
      return rest;
    };
    const driver: Kind["driver"] = (writes) => {
      const { probe: _probe, heal: _heal, ...rest } = real.driver(writes);
      return rest;
    };
    const kind = { ...real, reader, driver };
    if (kind.name !== "instances") return kind;
    const usable = async (id: string): Promise<{ is: "usable" | "not-yet"; detail: string }> => ({
      is: (await service.ping(id)) ? "usable" : "not-yet",
      detail: "no answer",
    });
    return { ...kind, driver: (writes) => ({ ...driver(writes), usable: (live) => usable(live.id) }) };
  });
}

async function stateOf(process: Proc, world: World, oracle: Oracle): Promise<StateDocument> {
  const { shared } = world;
  if (shared !== undefined)
    return (await openShared(process, shared, clockOf(process, world), world, oracle).read()) ?? newState();
  return (await simStore(process, world, oracle).read()) ?? newState();
}

function newState(): StateDocument {
  return emptyState("simulated", { lineage: "simulated", key: "5".repeat(64) });
}

/** The lock of a dead process is taken over; that of a living one is waited for. */
async function lock(process: Proc, world: World, clock: Clock, wait: number): Promise<boolean> {
  const until = clock.now() + wait;
  while (world.holder !== undefined && !world.holder.dead) {
    if (clock.now() >= until) return false;
    await clock.sleep(100);
  }
  world.holder = process;
  return true;
}

/** The time of a process: nobody waits for what a dead one waits for. */
export function clockOf(process: Proc, { schedule, dice }: World): Clock {
  return {
    now: schedule.now,
    random: dice.next,
    // A sleep without a signal ends by itself alone.
    sleep: (ms, signal = new AbortController().signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const pending = { signal, give: (): void => reject(signal.reason) };
        process.pending.add(pending);
        schedule.after(ms, process, () => {
          process.pending.delete(pending);
          resolve();
        });
      }),
  };
}

function failed(error: unknown, oracle: Oracle): Ended {
  if (!isGraphformError(error)) {
    const isStop = error instanceof DOMException && error.name === "AbortError";
    if (!isStop)
      oracle.violate("defect", error instanceof Error ? (error.stack ?? error.message) : String(error));
    return { is: "error", code: "interrupted", ...nothing };
  }
  oracle.says("error", `${error.message} ${error.hint ?? ""}`);
  return { is: "error", code: error instanceof GraphformError ? error.code : "", ...nothing };
}

/** Stands in for SHA-256, which is what the commands hand in: a plan is not attacked here, only compared. */
function digest(text: string): string {
  let [left, right] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    left = Math.imul(left ^ code, 2654435761);
    right = Math.imul(right ^ code, 1597334677);
  }
  return (left >>> 0).toString(16) + (right >>> 0).toString(16);
}
