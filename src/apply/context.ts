/** @module Defines what every step of an apply gets: the service, the journal, the clock, the outputs. */
import type { Address } from "../model/address.ts";
import type { Clock } from "../model/clock.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { defined, type JsonObject, stableJson } from "../model/json.ts";
import { type Driver, type KindRegistry, present } from "../model/kind.ts";
import type { Hide } from "../model/known-secrets.ts";
import { anotherObject, type Live, type Ref, remedyForAnother } from "../model/observed.ts";
import { perText } from "../model/once.ts";
import type { ApplyEvent, StepOutcome } from "../model/outcome.ts";
import type { Step } from "../model/plan.ts";
import type { Open } from "../model/sealed.ts";
import type { Profile } from "../model/service.ts";
import type { Bound, StateDocument } from "../model/state.ts";
import type { Journal } from "../model/state-event.ts";
import { limitedClock } from "../model/time-limit.ts";
import { preconditionText } from "../model/values.ts";
import type { CreateClass } from "./creates/create-request.ts";

export interface ApplyContext {
  readonly kinds: KindRegistry;
  readonly drivers: ReadonlyMap<string, Driver>;
  readonly profile: Profile;
  readonly clock: Clock;
  /** Longest time that one step waits, in ms; undefined: as long as its operation may take. */
  readonly patience?: number | undefined;
  readonly journal: Journal;
  readonly open: Open;
  /** Hides the secrets of the run in the words of exceptions. */
  readonly hide: Hide;
  readonly digest: (text: string) => string;
  readonly emit: (event: ApplyEvent) => void;
  /** Called with the key of a step whenever another status of its resource is seen. */
  readonly onStatus?: ((key: string, status: string) => void) | undefined;
  /** Outputs of everything that is there, filled in as steps are done. */
  readonly outputs: Map<Address, JsonObject>;
  /** Outputs as they were when apply began: the plan knew these ids. */
  readonly outputsAtStart: ReadonlyMap<Address, JsonObject>;
  /** The ids that the observation of the plan listed, by kind and place. Absent if the steps come from no observation. */
  readonly listedAtStart?: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  /** The state as it was when apply began: the values that the plan took for applied. */
  readonly stateAtStart: StateDocument;
  /** Aborted by the first Ctrl-C: no new steps, no more waiting. */
  readonly stopping: AbortSignal;
  /** Aborted when requests in flight must end too. */
  readonly aborting: AbortSignal;
  /** The durations of the operations of this run, by kind, operation and verb. */
  readonly durations: (sort: string) => KnownDurations;
  /** Paths that the service was seen to show, or is said to by the profile, by kind. */
  readonly shownPaths: Map<string, Set<string>>;
  /** The newest time that the service of a kind has shown, by its own clock, in ms since 1970. */
  readonly dateOf: (kind: string) => number | undefined;
  /** Carries out a step that moves the data of a database; a program without it moves none. */
  readonly migrate?: ((step: Step, context: ApplyContext) => Promise<StepResult>) | undefined;
  /** The create class of a key, opened at its first use. */
  readonly classFor: (key: string) => CreateClass;
}

/** In ms: the shortest wait of this run after which an operation had arrived, and the longest after which one had not. */
export interface KnownDurations {
  least?: number;
  unfinished: number;
}

/** The end of a step, without the fields that repeat the step. */
export type StepResult = Pick<StepOutcome, "result"> &
  Partial<Pick<StepOutcome, "id" | "message" | "hint" | "unsent">>;

/** The result of a step whose plan is older than a change. */
export function stale(message: string, id?: string): StepResult {
  return { result: "stale", ...defined({ id }), message, hint: "make a new plan" };
}

/** The error of a step whose plan is older than a change. */
export function staleError(message: string, hint = "make a new plan"): GraphformError {
  return new GraphformError("step-stale", message, { exitCode: exitCodes.stale, hint });
}

/** The result of a step that goes on once a person has acted. */
export function waitsForPerson({ id }: Pick<Ref, "id">, detail: string): StepResult {
  return { result: "waiting-for-person", id, message: `${id} waits for a person: ${detail}` };
}

/** A context whose waits share one limit, `patience`, counted from `since` or from the first wait. */
export function withOwnPatience<Context extends Pick<ApplyContext, "clock" | "patience">>(
  context: Context,
  since?: number,
): Context {
  return { ...context, clock: limitedClock(context.clock, context.patience, since) };
}

/** The driver of a kind. Throws if the composition root forgot one. */
export function driverOf(context: Pick<ApplyContext, "drivers">, kind: string): Driver {
  return present(context.drivers.get(kind), kind);
}

/**
 * Wraps the driver that every step looks through. `get` rejects with `another-object` (exit 6) if another object has a bound id by now,
 * and records it; it warns once of a status that the profile does not name, which may never pass.
 */
export function readingDriver(
  kind: string,
  driver: Driver,
  { emit, journal, listedAtStart }: Pick<ApplyContext, "emit" | "journal" | "listedAtStart">,
): Driver {
  const warned = new Set<string>();
  const listed = perText((place) => new Set(listedAtStart?.get(`${kind} ${place}`)));
  const shownAt = (place: JsonObject): Set<string> => listed(stableJson(place));
  const list: Driver["list"] = async (place, signal) => {
    const ids = await driver.list(place, signal);
    for (const id of ids) shownAt(place).add(id);
    return ids;
  };
  const get = async (ref: Ref, signal: AbortSignal): Promise<Live | undefined> => {
    const live = await driver.get(ref, signal);
    if (live === undefined) return void shownAt(ref.place).delete(ref.id);
    const [address] = journal.boundTo(kind, ref);
    const bound = address === undefined ? undefined : journal.state.resources[address];
    const another = anotherObject(bound, live);
    if (address !== undefined && another !== undefined) {
      const { createdAt } = live;
      if (createdAt !== undefined) await journal.record({ type: "another-seen", address, createdAt });
      const hint = remedyForAnother(address, ref.id);
      throw new GraphformError("another-object", another, { hint, exitCode: exitCodes.stale });
    }
    const key = `${ref.id} ${live.phase.detail}`;
    if (live.phase.isUnnamed !== true || warned.has(key)) return live;
    warned.add(key);
    const message = `${ref.id} shows the status ${live.phase.detail}`;
    emit({ type: "warning", ...defined({ address }), message });
    return live;
  };
  return { ...driver, list, get, shownAt };
}

/** A step without a plan, for a bound object in any state. */
export function unplannedStep(
  address: Address,
  { kind, id, place }: Pick<Bound, "kind" | "id" | "place">,
  operation: Step["operation"],
  digest: ApplyContext["digest"],
): Step {
  const live = { id, phase: { is: "ready", detail: "" }, spec: {}, outputs: {} } as const;
  const precondition = digest(preconditionText(live, [], {}, new Map()));
  const named = { key: address, operation, address, kind, id, place };
  return { ...named, checks: [], precondition, after: [], blocked: [] };
}

export function timestamp({ clock }: Pick<ApplyContext, "clock">): string {
  return new Date(clock.now()).toISOString();
}
