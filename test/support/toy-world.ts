import { createHash } from "node:crypto";
import type { Desired, Lifecycle, Timeouts } from "../../src/model/desired.ts";
import { defined, type JsonObject } from "../../src/model/json.ts";
import { type Driver, type Kind, kindRegistry } from "../../src/model/kind.ts";
import type { Manifest } from "../../src/model/manifest.ts";
import type { ApplyEvent, Outcome, StepOutcome } from "../../src/model/outcome.ts";
import type { Plan, PlanOptions } from "../../src/model/plan.ts";
import type { Sealed } from "../../src/model/sealed.ts";
import type { Profile, Service } from "../../src/model/service.ts";
import type { StateDocument } from "../../src/model/state.ts";
import type { PlanInput } from "../../src/plan/subjects.ts";
import { type ApplyDependencies, applyPlan, resolveIntents } from "../../src/reconcile/apply-plan.ts";
import { type Planned, planFor } from "../../src/reconcile/plan-for.ts";
import { differencesLeft } from "../../src/reconcile/verify.ts";
import { emptyState } from "../../src/state/document.ts";
import { openJournal } from "../../src/state/journal.ts";
import type { JournalStore, StateStore } from "../../src/state/store.ts";
import { createVault } from "../../src/state/vault.ts";
import { createMemoryStore } from "./memory-store.ts";
import { somewhere } from "./plan-input.ts";
import { toyKind, toyProfile } from "./toy-kind.ts";
import { type ToyService, type ToyServiceOptions, toyService } from "./toy-service.ts";
import { type VirtualClock, virtualClock } from "./virtual-clock.ts";

/** What a manifest of toys says of one: its spec, and the rest where it is not the common case. */
export interface Declared {
  readonly spec: JsonObject;
  readonly refs?: readonly string[];
  readonly lifecycle?: Partial<Lifecycle>;
  readonly timeouts?: Timeouts;
  readonly importId?: string;
}

/** Name of a toy -> its spec. A spec's `home` is a reference. */
export type Toys = { readonly [name: string]: JsonObject | Declared };

type Doubting = Pick<PlanInput, "createsInDoubt">;

/** What one run did. */
export interface Ran {
  readonly plan: Plan;
  readonly steps: readonly StepOutcome[];
  /** The plan from fresh observation that follows every apply. */
  readonly second: Plan;
  /** What the second plan found and nothing excuses. */
  readonly certificate: Outcome["certificate"];
}

/** One run of the program: what it goes through, and what may be different this time. */
export interface RunOptions {
  readonly options?: Partial<PlanOptions>;
  readonly manifest?: Partial<Manifest>;
  readonly destroying?: boolean;
  readonly stopping?: AbortSignal;
  readonly aborting?: AbortSignal;
  /** Stands between the engine and the world. */
  readonly driver?: Driver;
  readonly store?: JournalStore;
  /** What that store has; default: what the world's own store has. */
  readonly state?: StateDocument;
}

/** A service of toys, a state, and the real engine between them, in virtual time. */
export interface ToyWorld {
  readonly clock: VirtualClock;
  readonly service: ToyService;
  readonly store: StateStore;
  readonly events: readonly ApplyEvent[];
  seal(text: string): Sealed;
  state(): Promise<StateDocument>;
  /** Resolves intents, plans, applies, plans again: what `apply` does. */
  run(toys: Toys, options?: RunOptions): Promise<Ran>;
  /** The same, for who drives the clock himself. */
  begin(toys: Toys, options?: RunOptions): Promise<Ran>;
  plan(toys: Toys, options?: RunOptions): Promise<Plan>;
  /** Applies a plan that was made before. */
  apply(plan: Plan, toys: Toys, options?: RunOptions): Promise<readonly StepOutcome[]>;
  drive<T>(promise: Promise<T>): Promise<T>;
}

export interface ToyWorldOptions extends ToyServiceOptions {
  readonly seed?: number;
  readonly kind?: Partial<Kind>;
  readonly profile?: Partial<Profile>;
}

export function toyWorld(options: ToyWorldOptions = {}): ToyWorld {
  const clock = virtualClock(options.seed);
  const service = toyService(clock, options);
  const vault = createVault("5a".repeat(32));
  const born = emptyState("toys", { lineage: "lineage-1", key: "5a".repeat(32) });
  const store = createMemoryStore();
  const profile: Profile = { ...toyProfile, ...options.profile };
  const events: ApplyEvent[] = [];
  const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
  const state = async (): Promise<StateDocument> => (await store.read()) ?? born;

  const worldOf = async (run: RunOptions): Promise<ApplyDependencies> => {
    const never = new AbortController().signal;
    return {
      kinds: kindRegistry([toyKind(run.driver ?? service, options.kind)]),
      service: serviceOf(profile, service),
      clock,
      digest,
      journal: openJournal(run.store ?? store, run.state ?? (await state()), clock),
      open: vault.open,
      emit: (event) => events.push(event),
      stopping: run.stopping ?? never,
      aborting: run.aborting ?? never,
    };
  };
  const look = (toys: Toys, run: RunOptions, world: ApplyDependencies & Doubting): Promise<Planned> => {
    const chosen = { targets: [], exclude: [], replace: [], allowDestroy: [], ...run.options };
    const manifest = { ...manifestOf(toys), ...run.manifest };
    const goal = {
      manifest,
      options: chosen,
      timestamp: "2026-01-01T00:00:00.000Z",
      destroying: run.destroying === true,
    };
    return planFor(goal, world.journal.state, { ...world, signal: world.stopping });
  };

  const begin = async (toys: Toys, run: RunOptions = {}): Promise<Ran> => {
    const world = await worldOf(run);
    const { doubts } = await resolveIntents(world);
    const planned = await look(toys, run, { ...world, createsInDoubt: doubts });
    const steps = await applyPlan(planned, world);
    const calm = { ...world, createsInDoubt: doubts, stopping: new AbortController().signal };
    const { plan: second } = await look(toys, run, calm);
    return { plan: planned.plan, steps, second, certificate: differencesLeft(second, steps) };
  };

  return {
    clock,
    service,
    store,
    events,
    seal: (text) => vault.seal(text, "secret.toy"),
    state,
    drive: clock.drive,
    plan: async (toys, run = {}) =>
      clock.drive(worldOf(run).then(async (world) => (await look(toys, run, world)).plan)),
    apply: async (plan, toys, run = {}) =>
      clock.drive(
        worldOf(run).then(async (world) => applyPlan({ ...(await look(toys, run, world)), plan }, world)),
      ),
    run: async (toys, run) => clock.drive(begin(toys, run)),
    begin,
  };
}

function serviceOf(profile: Profile, { date }: ToyService): Service {
  const nothing = (): Promise<never> => Promise.reject(new Error("toys are not reached over the wire"));
  return {
    profile,
    hide: (text) => text,
    offers: (operation) => profile.operations[operation] !== undefined,
    date,
    read: nothing,
    write: nothing,
  };
}

function manifestOf(toys: Toys): Manifest {
  return {
    name: "toys",
    state: {},
    desired: Object.entries(toys).map(([name, entry]) =>
      desiredOf(name, isDeclared(entry) ? entry : { spec: entry }),
    ),
    outputs: {},
    imports: [],
    moved: [],
    removed: [],
    guards: {},
    warnings: [],
  };
}

function isDeclared(entry: JsonObject | Declared): entry is Declared {
  return typeof entry["spec"] === "object";
}

function desiredOf(name: string, { spec, refs = [], lifecycle, timeouts = {}, importId }: Declared): Desired {
  const home = spec["home"];
  return {
    address: `toys.${name}`,
    kind: "toys",
    // As the manifest does it: what verbs reach is always managed.
    spec: { power: "running", ...spec },
    refs: [...(typeof home === "string" ? [home] : []), ...refs].map((ref) => `toys.${ref}`),
    where: () => somewhere,
    lifecycle: { onReplace: "recreate", onDelete: "delete", ignoreChanges: [], dependsOn: [], ...lifecycle },
    timeouts,
    ...defined({ importId }),
  };
}
