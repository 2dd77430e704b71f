import type { Address } from "../../src/model/address.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { Effect, Fault, ResourceCase, RunCase } from "./case.ts";
import type { Life } from "./schedule.ts";
import type { Look, Thing } from "./thing.ts";

/** Something that a process waits for and that ends when it is told to stop. */
export interface Pending {
  readonly signal: AbortSignal;
  give(): void;
}

/** One process of the program: it dies at a crash, and nothing that it waited for comes back. */
export interface Proc extends Life {
  readonly name: string;
  readonly run: RunCase;
  /** Ms since 1970. */
  readonly begunAt: number;
  readonly pending: Set<Pending>;
  readonly stopping: AbortController;
  readonly aborting: AbortController;
  /** What it is doing: it writes to the service only while it applies, and nowhere while it plans. */
  phase: "resolving" | "planning" | "applying";
  plan?: Plan;
  /** Ms since 1970 until which it does not reach a shared store. */
  awayUntil: number;
  /** It has had the lock of a shared store. */
  hadLock: boolean;
  /** It has taken that lock from another process, whose lease had run out. */
  tookOver: boolean;
  /** Ids of the objects that it has created and knows of. */
  readonly acknowledged: Set<string>;
  /** How each object looked to it while it planned, and when it looked last. */
  readonly seen: Map<Thing, { readonly planned?: Look; readonly last: Look }>;
  /** What was remembered of each object's protection as it began. */
  readonly protectsBefore: Map<Thing, ReadonlySet<boolean>>;
  /** A person has begun to look at the plan. */
  pauses(): void;
  takeFault(on: Fault["on"]): Effect | undefined;
  resource(address: Address): ResourceCase | undefined;
}

/** A process that carries out a run; a rival is spared the run's faults. */
export function proc(
  name: string,
  run: RunCase,
  faults: readonly Fault[],
  begunAt: number,
  pauses: () => void = () => undefined,
): Proc {
  const counts = new Map<Fault["on"], number>();
  return {
    name,
    run,
    begunAt,
    dead: false,
    pending: new Set(),
    stopping: new AbortController(),
    aborting: new AbortController(),
    phase: "resolving",
    awayUntil: 0,
    hadLock: false,
    tookOver: false,
    acknowledged: new Set(),
    seen: new Map(),
    protectsBefore: new Map(),
    pauses,
    takeFault(on) {
      const nth = (counts.get(on) ?? 0) + 1;
      counts.set(on, nth);
      return faults.find((fault) => fault.on === on && fault.nth === nth)?.effect;
    },
    resource: (address) => run.resources.find((entry) => entry.address === address),
  };
}

/** Ends what waits for a signal that is aborted by now. */
export function letGo(process: Proc): void {
  for (const pending of process.pending) {
    if (!pending.signal.aborted) continue;
    process.pending.delete(pending);
    pending.give();
  }
}
