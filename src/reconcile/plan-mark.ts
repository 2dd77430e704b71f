/** @module Marks a plan as applied before the first thing that one of its steps sends or records. */
import type { Journal } from "../model/journal.ts";
import type { Driver } from "../model/kind.ts";

/** The mark of one plan, and the journal and drivers that set it before they do anything. */
export interface PlanMark {
  readonly journal: Journal;
  driver(driver: Driver): Driver;
  /** Sets the mark now, unless it is set. Rejects where the state could not be written: nothing was sent then. */
  set(): Promise<void>;
  /** The failure to set it; undefined where there was none. */
  failure(): unknown;
}

/**
 * Opens the mark of a plan. A plan runs once; one of which nothing was sent and nothing recorded has not run, and may be
 * applied again.
 */
export function planMark(journal: Journal, fingerprint: string): PlanMark {
  let marking: Promise<void> | undefined;
  let isSet = false;
  let failed: unknown;
  const mark = async (): Promise<void> => {
    try {
      await journal.record({ type: "plan-applied", fingerprint });
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
      record: (event) => after(() => journal.record(event)),
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
