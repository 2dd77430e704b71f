import type { Driver } from "../../src/model/kind.ts";
import type { JournalStore } from "../../src/state/store.ts";

/** A process that dies at one of its moments: before and after every request, and before and after every write. */
export interface Mortal {
  readonly driver: Driver;
  readonly store: JournalStore;
  /** Resolves when it has died. What it was waiting for then never comes. */
  readonly died: Promise<"died">;
  /** Moments so far. */
  moments(): number;
}

/** Lets a process over this driver and store die at its `moment`-th moment, counted from 1. */
export function mortal(driver: Driver, store: JournalStore, moment: number): Mortal {
  let count = 0;
  const death = Promise.withResolvers<"died">();
  const pass = async (): Promise<void> => {
    count += 1;
    if (count === moment) death.resolve("died");
    if (count >= moment) await new Promise<never>(() => {});
  };
  const between = async <T>(work: () => Promise<T>): Promise<T> => {
    await pass();
    try {
      return await work();
    } finally {
      await pass();
    }
  };
  return {
    died: death.promise,
    moments: () => count,
    store: {
      write: (next) => between(() => store.write(next)),
      append: (next) => between(() => store.append(next)),
    },
    driver: {
      list: (place, signal) => between(() => driver.list(place, signal)),
      get: (ref, signal) => between(() => driver.get(ref, signal)),
      create: (spec, signal) => between(() => driver.create(spec, signal)),
      update: (ref, patch, signal) => between(() => driver.update(ref, patch, signal)),
      delete: (ref, signal) => between(() => driver.delete(ref, signal)),
      operate: (ref, verb, signal) => between(() => driver.operate(ref, verb, signal)),
    },
  };
}
