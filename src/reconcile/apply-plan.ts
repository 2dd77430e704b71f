/** @module Builds the context of an apply, and carries out a plan or an earlier run's open creates in it. */
import { type ApplyContext, readingDriver, withOwnPatience } from "../apply/context.ts";
import { createClasses } from "../apply/creates/create-class.ts";
import { type Recovered, recoverIntents } from "../apply/creates/recover-intents.ts";
import { run } from "../apply/run.ts";
import type { Address } from "../model/address.ts";
import { serviceTime } from "../model/clock.ts";
import { longestSearch } from "../model/consistency.ts";
import type { JsonObject } from "../model/json.ts";
import type { Driver, Kind } from "../model/kind.ts";
import type { Observed } from "../model/observed.ts";
import { perText } from "../model/once.ts";
import type { StepOutcome } from "../model/outcome.ts";
import type { Plan, Step } from "../model/plan.ts";
import { formatDuration } from "../model/quantity.ts";
import type { Profile, Service } from "../model/service.ts";
import type { StateDocument } from "../model/state.ts";
import type { Journal } from "../model/state-event.ts";
import { toRepair } from "../replace/phases.ts";
import type { Planned, PlanningDependencies } from "./plan-for.ts";

export interface ApplyDependencies
  extends Pick<
      ApplyContext,
      "kinds" | "clock" | "digest" | "journal" | "open" | "emit" | "onStatus" | "migrate"
    >,
    Pick<ApplyContext, "stopping" | "aborting">,
    Pick<PlanningDependencies, "foresee" | "notGiven" | "onRead"> {
  readonly service: Service;
}

/** Applies a plan and nothing else; it is marked as applied before its first write, so that it runs once. */
export async function applyPlan(planned: Planned, deps: ApplyDependencies): Promise<readonly StepOutcome[]> {
  const { plan, outputs, listed } = planned;
  await rememberOthers(planned, deps);
  const mark = planMark(deps.journal, plan, planned.observed);
  const seen = { outputs, listed };
  const context = applyContext({ ...deps, journal: mark.journal }, seen, mark.driver);
  const steps = await run(plan.steps, context);
  if (mark.failure() !== undefined) throw mark.failure();
  // Steps that found their object as declared are done too.
  if (steps.some(({ result }) => result === "done")) await mark.set();
  return steps;
}

/** Records the bound ids that an observation has shown to be those of other objects: they stay in doubt from then on. */
export async function rememberOthers(
  { doubts }: Pick<Planned, "doubts">,
  { journal }: Pick<ApplyDependencies, "journal">,
): Promise<void> {
  for (const [address, { createdAt }] of doubts)
    if (createdAt !== undefined) await journal.record({ type: "another-seen", address, createdAt });
}

/** Carries out steps that no manifest asked for: one lifecycle operation, bindings. */
export async function runSteps(
  steps: readonly Step[],
  deps: ApplyDependencies,
  outputs: ReadonlyMap<Address, JsonObject> = new Map(),
): Promise<readonly StepOutcome[]> {
  return run(steps, applyContext(deps, { outputs }));
}

/** Repairs the database of a run that ended in the middle of a cutover: it takes writes again. */
export async function repairMigrations(deps: ApplyDependencies): Promise<void> {
  if (toRepair(deps.journal.state).length === 0) return;
  const { repairMigrations: repair } = await import("../replace/shutdown.ts");
  await repair(applyContext(deps, { outputs: new Map() }));
}

/** Resolves the creates that an earlier run announced and never saw acknowledged, before anything is planned. */
export async function resolveIntents(deps: ApplyDependencies, saved?: Plan): Promise<Recovered> {
  const open = Object.keys(deps.journal.state.intents).length;
  if (open > 0) {
    const longest = formatDuration(longestSearch(deps.service.profile.timing));
    deps.onRead?.(0, 0, `looking for objects of earlier creates: ${open} (up to ${longest})`);
  }
  return recoverIntents(withOwnPatience(applyContext(deps, { outputs: new Map() })), saved);
}

function applyContext(
  deps: ApplyDependencies,
  { outputs, listed }: Pick<Planned, "outputs"> & Partial<Pick<Planned, "listed">>,
  wrapped: (driver: Driver) => Driver = (driver) => driver,
): ApplyContext {
  const { profile, hide } = deps.service;
  const service = withoutNewWrites(deps.service, deps.stopping);
  const context = {
    ...deps,
    drivers: new Map(
      deps.kinds.all.map((kind) => [
        kind.name,
        readingDriver(kind.name, wrapped(kind.driver(service)), { ...deps, listedAtStart: listed }),
      ]),
    ),
    profile,
    patience: deps.service.patience,
    hide,
    outputs: new Map(outputs),
    outputsAtStart: outputs,
    listedAtStart: listed,
    stateAtStart: deps.journal.snapshot(),
    durations: perText(() => ({ unfinished: 0 })),
    dateOf: (kind: string) => service.date(deps.kinds.named(kind).operations.create),
    shownPaths: new Map(deps.kinds.all.map((kind) => [kind.name, describedPaths(kind, profile)])),
  };
  return { ...context, classFor: createClasses(context) };
}

/** A service that sends no more writes once the run is interrupted, not even those that wait for their turn. */
export function withoutNewWrites(service: Service, stopping: AbortSignal): Service {
  return { ...service, write: (call, signal) => service.write(call, signal, stopping) };
}

/** Fields that the profile says are shown of every object of a kind. */
function describedPaths({ describedBy, schema }: Kind, profile: Profile): Set<string> {
  const named = Object.keys(profile.operations[describedBy]?.answer ?? {});
  return new Set(named.filter((name) => Object.hasOwn(schema.properties, name)));
}

/**
 * The mark of one plan, and the journal and drivers that set it before they do anything: a plan runs once; one of which nothing
 * was sent and nothing recorded may be applied again. `failure` returns the error of setting the mark: then nothing was sent.
 */
function planMark(
  journal: Journal,
  { fingerprint }: Pick<Plan, "fingerprint">,
  observed: ReadonlyMap<Address, Observed>,
) {
  let marking: Promise<void> | undefined;
  let isMarked = false;
  let failed: unknown;
  const mark = async (): Promise<void> => {
    try {
      const times = newTimes(observed, journal.state);
      const shown = Object.keys(times).length === 0 ? {} : { shownCreatedAt: times };
      await journal.record({ type: "plan-applied", fingerprint, ...shown });
      isMarked = true;
    } catch (error) {
      failed = error;
      throw error;
    }
  };
  const set = (): Promise<void> => {
    marking ??= mark();
    return marking;
  };
  const after = <T>(work: () => Promise<T>): Promise<T> => (isMarked ? work() : set().then(work));
  return {
    journal: {
      ...journal,
      // Seeing another object does not count as work of the plan.
      record: (...[event]: Parameters<Journal["record"]>): Promise<void> =>
        event.type === "another-seen" ? journal.record(event) : after(() => journal.record(event)),
      bind: (...given: Parameters<Journal["bind"]>) => after(() => journal.bind(...given)),
    },
    driver: (driver: Driver): Driver => {
      const { backup, heal } = driver;
      return {
        ...driver,
        create: (...given) => after(() => driver.create(...given)),
        update: (...given) => after(() => driver.update(...given)),
        delete: (...given) => after(() => driver.delete(...given)),
        operate: (...given) => after(() => driver.operate(...given)),
        ...(backup === undefined ? {} : { backup: (...given) => after(() => backup(...given)) }),
        ...(heal === undefined ? {} : { heal: (...given) => after(() => heal(...given)) }),
      };
    },
    set,
    failure: (): unknown => failed,
  };
}

/** The creation times that were observed of bound objects and are not recorded yet. */
function newTimes(
  observed: ReadonlyMap<Address, Observed>,
  { resources }: Pick<StateDocument, "resources">,
): { readonly [address: Address]: string } {
  const found = [...observed].flatMap(([address, { id, createdAt, phase }]): [Address, string][] => {
    const bound = resources[address];
    if (createdAt === undefined || serviceTime(createdAt) === undefined || phase.is === "pending") return [];
    return bound?.id === id && bound.shownCreatedAt === undefined ? [[address, createdAt]] : [];
  });
  return Object.fromEntries(found);
}
