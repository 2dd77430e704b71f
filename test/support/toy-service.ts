import { ServiceError, type ServiceFailure } from "../../src/model/errors.ts";
import { defined, type JsonObject } from "../../src/model/json.ts";
import type { Backup, Driver } from "../../src/model/kind.ts";
import type { Live, PhaseName, Seen } from "../../src/model/observed.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** The answer never arrives: before or after the work, as an error, or as something that nobody can read. */
type Loss = "lost-before" | "lost-after" | "error-after" | "503-after" | "nonsense";

/** The work is taken on and ends otherwise than it should. */
type Ending = "fails" | "waits";

/** What the next `times` requests (default 1) do instead of working. */
export interface Fault {
  /** create, update, delete, a verb, list or get. */
  readonly on: string;
  readonly effect: Loss | Ending | "hangs" | Refusal;
  readonly times?: number;
  /** Id, or for a create the colour, of the only one that it befalls. */
  readonly target?: string;
}

type Refusal = Exclude<ServiceFailure, "lost" | "shape" | "aborted">;
type Effect = Fault["effect"] | undefined;

/** The freedom that a service has. Durations in ms. */
export interface ToyServiceOptions {
  readonly latency?: number;
  /** How long work takes. */
  readonly work?: number;
  /** How long the old status still shows after an operation was accepted. */
  readonly stale?: number;
  /** How long a new object is unknown to describe, and absent from lists. */
  readonly describeLag?: number;
  readonly listLag?: number;
  /** Fields that describe never shows, besides the token. */
  readonly hidden?: readonly string[];
  readonly faults?: readonly Fault[];
}

export interface Toy {
  readonly id: string;
  readonly bornAt: number;
  spec: JsonObject;
  phase: PhaseName;
  modifiedAt: number;
  work: { readonly since: number; readonly until: number; readonly end: () => void } | undefined;
}

export interface ToyRequest {
  readonly operation: string;
  /** The id; for a create the colour, which tells toys apart here. */
  readonly target: string;
  readonly at: number;
  /** Of a create or an update. */
  readonly body?: JsonObject;
}

/** A hosting service for toys, in memory and in virtual time. It is a driver; the rest is what a test may look at or do. */
export interface ToyService extends Driver {
  readonly log: readonly ToyRequest[];
  /** The whole second of its newest answer, in ms since 1970. */
  date(): number | undefined;
  /** What exists now, in the order of its creation. */
  all(): readonly Toy[];
  writes(operation?: string): readonly ToyRequest[];
  fault(fault: Fault): void;
  /** Somebody else's doing. */
  add(spec: JsonObject, phase?: PhaseName): string;
  change(id: string, spec: JsonObject, phase?: PhaseName): void;
  remove(id: string): void;
}

const reads = ["list", "get", "backups"];

export function toyService(clock: VirtualClock, options: ToyServiceOptions = {}): ToyService {
  const { latency = 100, work = 10_000, stale = 0, describeLag = 0, listLag = 0, hidden = [] } = options;
  const toys = new Map<string, Toy>();
  const log: ToyRequest[] = [];
  let date: number | undefined;
  const backups: { readonly of: string; readonly backup: Backup; readonly until: number }[] = [];
  const faults = (options.faults ?? []).map((fault) => ({ ...fault, left: fault.times ?? 1 }));
  let born = 0;

  const takeFault = ({ operation, target }: Omit<ToyRequest, "at">): Effect => {
    const found = faults.find(
      (fault) => fault.on === operation && fault.left > 0 && (fault.target ?? target) === target,
    );
    if (found !== undefined) found.left -= 1;
    return found?.effect;
  };

  /** One round trip: the request travels, is refused or does its work, and the answer travels back or is lost. */
  const request = async <T>(
    sent: Omit<ToyRequest, "at">,
    signal: AbortSignal,
    handle: (ending: Effect) => T,
  ): Promise<T> => {
    const { operation } = sent;
    const effect = takeFault(sent);
    const travel = (): Promise<void> =>
      aborting(clock.sleep(latency * (0.5 + clock.random()), signal), operation, signal);
    log.push({ ...sent, at: clock.now() });
    await travel();
    if (effect === "hangs") await aborting(untilAborted(signal), operation, signal);
    if (isRefusal(effect)) throw refused(effect, operation);
    if (effect === "lost-before") throw answerLost(operation);
    const result = handle(effect);
    const answeredAt = clock.now();
    await travel();
    if (effect === "lost-after") throw answerLost(operation);
    if (effect === "error-after" || effect === "503-after") {
      const status = effect === "error-after" ? 500 : 503;
      throw new ServiceError("lost", operation, "the service failed", { status, mayHaveWorked: true });
    }
    date = Math.floor(answeredAt / 1000) * 1000;
    if (effect === "nonsense")
      throw new ServiceError("shape", operation, "the answer is not JSON", { mayHaveWorked: true });
    return result;
  };

  const begin = (toy: Toy, ending: Effect, end: () => void): void => {
    const now = clock.now();
    const stuck = ending === "fails" ? "failed" : ending === "waits" ? "waiting-for-person" : undefined;
    toy.work = { since: now, until: now + work, end: stuck === undefined ? end : become(toy, stuck) };
  };
  const become = (toy: Toy, phase: PhaseName) => (): void => {
    toy.phase = phase;
  };
  const bear = (spec: JsonObject, phase: PhaseName): Toy => {
    born += 1;
    const now = clock.now();
    const toy: Toy = { id: `toy-${born}`, bornAt: now, modifiedAt: now, spec, phase, work: undefined };
    toys.set(toy.id, toy);
    return toy;
  };
  /** The toy as it is by now: work that is over has ended. */
  const current = (id: string): Toy | undefined => {
    const toy = toys.get(id);
    if (toy?.work === undefined || clock.now() < toy.work.until) return toy;
    const { until, end } = toy.work;
    toy.work = undefined;
    toy.modifiedAt = until;
    end();
    return toys.get(id);
  };
  const found = (id: string, operation: string, phases: readonly PhaseName[]): Toy => {
    const toy = current(id);
    if (toy === undefined) throw refused("not-found", operation);
    if (toy.work !== undefined) throw refused("busy", operation);
    if (!phases.includes(toy.phase)) throw refused("conflict", operation);
    return toy;
  };
  const isListed = (toy: Toy | undefined): toy is Toy =>
    toy !== undefined && clock.now() - toy.bornAt >= listLag;

  const live = (toy: Toy): Live => {
    const busy = toy.work !== undefined && clock.now() - toy.work.since >= stale;
    const phase = busy ? "pending" : toy.phase;
    const power = { ready: "running", stopped: "stopped", failed: "failed" }[String(phase)];
    const { token: _token, power: _power, ...rest } = toy.spec;
    const shown = { ...rest, ...defined({ power }) };
    const spec = Object.entries(shown).filter(([path]) => !hidden.includes(path));
    return {
      id: toy.id,
      phase: { is: phase, detail: phase.toUpperCase() },
      spec: Object.fromEntries(
        spec.map(([path, value]): [string, Seen] => [path, { value, source: "described" }]),
      ),
      outputs: { id: toy.id, ...(phase === "ready" ? { endpoint: `${toy.id}:6379` } : {}) },
      createdAt: new Date(toy.bornAt).toISOString(),
      modifiedAt: new Date(toy.modifiedAt).toISOString(),
    };
  };

  return {
    log,
    date: () => date,
    all: () => [...toys.keys()].flatMap((id) => current(id) ?? []),
    writes: (operation) =>
      log.filter((entry) =>
        operation === undefined ? !reads.includes(entry.operation) : entry.operation === operation,
      ),
    fault: (fault) => void faults.push({ ...fault, left: fault.times ?? 1 }),
    add: (spec, phase = "ready") => bear(spec, phase).id,
    change(id, spec, phase): void {
      const toy = current(id);
      if (toy === undefined) throw new Error(`there is no ${id}`);
      toy.spec = { ...toy.spec, ...spec };
      toy.phase = phase ?? toy.phase;
      toy.modifiedAt = clock.now();
    },
    remove: (id) => void toys.delete(id),

    list: (_place, signal) =>
      request({ operation: "list", target: "" }, signal, () =>
        [...toys.keys()].filter((id) => isListed(current(id))),
      ),
    get: (ref, signal) =>
      request({ operation: "get", target: ref.id }, signal, () => {
        const toy = current(ref.id);
        return toy === undefined || clock.now() - toy.bornAt < describeLag ? undefined : live(toy);
      }),
    create: (spec, signal) =>
      request({ operation: "create", target: String(spec["colour"]), body: spec }, signal, (ending) => {
        const toy = bear({ size: 1, ...spec }, "pending");
        begin(toy, ending, become(toy, "ready"));
        return toy.id;
      }),
    update: (ref, patch, signal) =>
      request({ operation: "update", target: ref.id, body: patch }, signal, (ending) => {
        const toy = found(ref.id, "update", ["ready", "failed"]);
        if (patch["size"] !== undefined) throw refused("invalid", "update");
        begin(toy, ending, () => {
          toy.spec = { ...toy.spec, ...patch };
          toy.phase = "ready";
        });
      }),
    delete: (ref, signal) =>
      request({ operation: "delete", target: ref.id }, signal, (ending) => {
        const toy = found(ref.id, "delete", ["ready", "stopped", "failed", "pending", "waiting-for-person"]);
        begin(toy, ending, () => void toys.delete(toy.id));
      }),
    showsBackupTimes: true,
    backup: (ref, signal) =>
      request({ operation: "backup", target: ref.id }, signal, (ending) => {
        found(ref.id, "backup", ["ready"]);
        const is = ending === "fails" ? "failed" : ending === "waits" ? "pending" : "completed";
        const id = `backup-${backups.length + 1}`;
        const createdAt = new Date(clock.now()).toISOString();
        const backup: Backup = { id, is, detail: is.toUpperCase(), isAutomatic: false, createdAt };
        backups.push({ of: ref.id, backup, until: clock.now() + work });
        return undefined;
      }),
    backups: (ref, signal) =>
      request({ operation: "backups", target: ref.id }, signal, () =>
        backups
          .filter((each) => each.of === ref.id)
          .map(({ backup, until }) =>
            clock.now() < until ? { ...backup, is: "pending" as const, detail: "PENDING" } : backup,
          ),
      ),
    operate: (ref, verb, signal) =>
      request({ operation: verb, target: ref.id }, signal, (ending) => {
        const from: readonly PhaseName[] =
          verb === "start" ? ["stopped"] : verb === "stop" ? ["ready"] : ["ready", "failed"];
        const toy = found(ref.id, verb, from);
        begin(toy, ending, become(toy, verb === "stop" ? "stopped" : "ready"));
      }),
  };
}

const others: readonly Effect[] = [
  ...([
    "lost-before",
    "lost-after",
    "error-after",
    "503-after",
    "nonsense",
    "fails",
    "waits",
    "hangs",
  ] as const),
  undefined,
];

function isRefusal(effect: Effect): effect is Refusal {
  return !others.includes(effect);
}

function refused(failure: ServiceFailure, operation: string): ServiceError {
  return new ServiceError(failure, operation, `${operation}: refused (${failure})`);
}

function answerLost(operation: string): ServiceError {
  return new ServiceError("lost", operation, `${operation}: the answer was lost`, { mayHaveWorked: true });
}

/** A request that is let go of ends as the real client ends it. */
async function aborting(travel: Promise<void>, operation: string, signal: AbortSignal): Promise<void> {
  try {
    await travel;
  } catch (cause) {
    throw new ServiceError("aborted", operation, `${operation}: interrupted`, {
      mayHaveWorked: true,
      cause: signal.reason ?? cause,
    });
  }
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
