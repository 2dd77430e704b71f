/** @module Collects what planning and applying depend on besides the manifest and the state. */
import { kinds } from "../kinds/index.ts";
import { systemClock } from "../model/clock.ts";
import { GraphformError } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import { type KindRegistry, kindRegistry, type Reader } from "../model/kind.ts";
import type { Answer, Reads, Service } from "../model/service.ts";
import type { StateDocument } from "../model/state.ts";
import type { ApplyDependencies } from "../reconcile/apply-plan.ts";
import type { PlanningDependencies } from "../reconcile/plan-for.ts";
import { digestOf } from "../state/document.ts";
import { openJournal } from "../state/journal.ts";
import type { Lock, StateStore } from "../state/store.ts";

type PlanningParts = Partial<Pick<ApplyParts, "clock" | "open" | "notGiven" | "boundElsewhere">>;

/** The dependencies of planning; it cannot write. Without `open` no running database is asked. */
export function planningDependencies(
  service: Reads,
  signal: AbortSignal,
  { clock = systemClock, open, notGiven, boundElsewhere }: PlanningParts = {},
): PlanningDependencies {
  return {
    kinds: kindsWithout(boundElsewhere),
    service,
    clock,
    digest: digestOf,
    signal,
    foresee,
    ...defined({ open, notGiven }),
  };
}

/** Loaded here, as all that moves data: most runs move none. */
const foresee: PlanningDependencies["foresee"] = async (...given) =>
  (await import("../replace/sides.ts")).foresee(...given);

/** The parts of an apply that differ between the command line and programs. Without `aborting` requests in flight always end by themselves. */
export interface ApplyParts
  extends Pick<ApplyDependencies, "service" | "stopping">,
    Partial<
      Pick<ApplyDependencies, "aborting" | "open" | "emit" | "clock" | "notGiven" | "onRead" | "onStatus">
    > {
  readonly store: StateStore;
  /** The state at the start, claimed for the service. */
  readonly state: StateDocument;
  /** The lock of the state; losing it stops the run. */
  readonly lock: Pick<Lock, "lost" | "look">;
  /** Ids of objects that other states bind: no list shows them. */
  readonly boundElsewhere?: ReadonlySet<string>;
}

/** The dependencies of an apply, with a journal that writes to the store of the state. */
export function applyDependencies(parts: ApplyParts): ApplyDependencies {
  const { store, state, lock, clock = systemClock, notGiven, boundElsewhere } = parts;
  return {
    kinds: kindsWithout(boundElsewhere),
    service: lookingFirst(parts.service, lock),
    clock,
    digest: digestOf,
    journal: openJournal(store, state, clock),
    open: parts.open ?? (() => undefined),
    emit: parts.emit ?? (() => {}),
    foresee,
    ...defined({ notGiven }),
    migrate: async (step, context) => (await import("../replace/migrate.ts")).migrate(step, context),
    onRead: parts.onRead,
    onStatus: parts.onStatus,
    stopping: AbortSignal.any([parts.stopping, lock.lost]),
    aborting: parts.aborting ?? new AbortController().signal,
  };
}

/** The kinds without these ids: an object that another state binds was not made by this one, and this one may not take it. */
function kindsWithout(hidden: ReadonlySet<string> | undefined): KindRegistry {
  if (hidden === undefined || hidden.size === 0) return kinds;
  return kindsWith((reader) => ({
    async get(ref, signal) {
      if (hidden.has(ref.id)) throw boundElsewhereError(ref.id);
      return reader.get(ref, signal);
    },
    list: async (...given) => (await reader.list(...given)).filter((id) => !hidden.has(id)),
    ...(reader.listAll && {
      listAll: async (signal) => {
        const all = await reader.listAll?.(signal);
        return all && { ...all, found: all.found.filter(({ live }) => !hidden.has(live.id)) };
      },
    }),
  }));
}

function boundElsewhereError(id: string): GraphformError {
  return new GraphformError(
    "bound-elsewhere",
    `${id} is bound by another state: two would change and delete it`,
    {
      hint: "take it out of imports, or out of the other manifest first (with `removed`, so that it is not deleted)",
    },
  );
}

/** The kinds, with other reads of each. */
export function kindsWith(change: (reader: Reader, kind: string) => Partial<Reader>): KindRegistry {
  const changed = <R extends Reader>(reader: R, kind: string): R => ({ ...reader, ...change(reader, kind) });
  return kindRegistry(
    kinds.all.map((kind) => ({
      ...kind,
      reader: (service) => changed(kind.reader(service), kind.name),
      driver: (service) => changed(kind.driver(service), kind.name),
    })),
  );
}

/** Looks at the lock before it sends anything, also a read: a process that was stopped may have lost it. */
function lookingFirst(service: Service, { look, lost }: ApplyParts["lock"]): Service {
  return {
    ...service,
    async read(call, signal): Promise<Answer> {
      await look();
      lost.throwIfAborted();
      return service.read(call, signal);
    },
    write: (call, signal, unsent) => service.write(call, signal, unsent, look),
  };
}
