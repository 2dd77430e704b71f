/** @module Marks a plan as applied before the first thing that one of its steps sends or records. */
import type { Address } from "../model/address.ts";
import { serviceTime } from "../model/clock.ts";
import type { Driver } from "../model/kind.ts";
import type { Observed } from "../model/observed.ts";
import type { Plan } from "../model/plan.ts";
import type { StateDocument } from "../model/state.ts";
import type { Journal } from "../model/state-event.ts";

/** The mark of one plan, and the journal and drivers that set it before they do anything. */
export interface PlanMark {
  readonly journal: Journal;
  driver(driver: Driver): Driver;
  /** Sets the mark now, unless it is set. Rejects if the state could not be written: nothing was sent then. */
  set(): Promise<void>;
  /** The failure to set it; undefined if there was none. */
  failure(): unknown;
}

/**
 * Opens the mark of a plan. A plan runs once; one of which nothing was sent and nothing recorded has not run, and may be
 * applied again.
 */
export function planMark(
  journal: Journal,
  { fingerprint }: Pick<Plan, "fingerprint">,
  observed: ReadonlyMap<Address, Observed>,
): PlanMark {
  let marking: Promise<void> | undefined;
  let isSet = false;
  let failed: unknown;
  const mark = async (): Promise<void> => {
    try {
      const times = newTimes(observed, journal.state);
      const shown = Object.keys(times).length === 0 ? {} : { shownCreatedAt: times };
      await journal.record({ type: "plan-applied", fingerprint, ...shown });
      isSet = true;
    } catch (error) {
      failed = error;
      throw error;
    }
  };
  const set = (): Promise<void> => {
    marking ??= mark();
    return marking;
  };
  const after = <T>(work: () => Promise<T>): Promise<T> => (isSet ? work() : set().then(work));
  return {
    journal: {
      ...journal,
      // What was seen of an object is no work of the plan.
      record: (event) =>
        event.type === "another-seen" ? journal.record(event) : after(() => journal.record(event)),
      bind: (address, bound) => after(() => journal.bind(address, bound)),
    },
    driver: (driver) => {
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
    failure: () => failed,
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
