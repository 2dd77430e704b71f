/** Calls of one slow function, merged. */
export interface Merged<T> {
  /** Hands an item in; resolves or rejects with the call that took it. */
  offer(item: T): Promise<void>;
  /** Resolves once nothing is under way. Never rejects. */
  idle(): Promise<void>;
}

/**
 * Runs `work` one call at a time: what is offered while one is under way goes, in its order, into the next one
 * together.
 */
export function mergeCalls<T>(work: (items: readonly T[]) => Promise<void>): Merged<T> {
  let running: Promise<void> = Promise.resolve();
  let waiting: { readonly items: T[]; readonly done: Promise<void> } | undefined;
  return {
    offer(item): Promise<void> {
      if (waiting !== undefined) {
        waiting.items.push(item);
        return waiting.done;
      }
      const items = [item];
      const done = running.then(() => {
        waiting = undefined;
        return work(items);
      });
      waiting = { items, done };
      running = done.catch(() => undefined);
      return done;
    },
    idle: () => running,
  };
}
