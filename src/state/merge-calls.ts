/** @module Merges concurrent calls of a slow function into one call at a time. */
/** Calls of one slow function, merged. */
export interface Merged<T> {
  /** Hands an item in; resolves or rejects with the call that took it. */
  offer(item: T): Promise<void>;
  /** Resolves once nothing is under way. Never rejects. */
  idle(): Promise<void>;
}

/**
 * Runs `work` one call at a time. What is offered before a call takes its items goes into it together, in its order;
 * what comes later goes into the next one.
 */
export function mergeCalls<T>(work: (take: () => readonly T[]) => Promise<void>): Merged<T> {
  let running: Promise<void> = Promise.resolve();
  let waiting: { readonly items: T[]; readonly done: Promise<void> } | undefined;
  return {
    offer(item): Promise<void> {
      if (waiting !== undefined) {
        waiting.items.push(item);
        return waiting.done;
      }
      const items = [item];
      const take = (): readonly T[] => {
        if (waiting?.items === items) waiting = undefined;
        return items;
      };
      const done = running.then(() => work(take)).finally(take);
      waiting = { items, done };
      running = done.catch(() => undefined);
      return done;
    },
    idle: () => running,
  };
}
