/** @module Keeps the creates of a class that wait to be admitted to a round. */

/** Waiting entries in groups, in the order of their arrival. Entries of one group may always be in flight together. */
export interface CreateQueue<Waiter> {
  readonly isEmpty: boolean;
  first(): Waiter | undefined;
  add(group: string, waiter: Waiter): void;
  /** Takes out the entries that may go now. Asks only for the first entry of the first `groups` groups, so its cost does not grow with the queue. */
  admit(groups: number, mayGo: (waiter: Waiter) => boolean, go: (waiter: Waiter) => void): void;
  /** Takes out all of them. */
  drain(): readonly Waiter[];
}

/** Opens an empty queue. */
export function createQueue<Waiter>(): CreateQueue<Waiter> {
  const waiting = new Map<string, Waiter[]>();
  return {
    get isEmpty() {
      return waiting.size === 0;
    },
    first: () => [...firstOf(waiting, 1)][0]?.[1][0],
    add(group, waiter) {
      const members = waiting.get(group);
      if (members === undefined) waiting.set(group, [waiter]);
      else members.push(waiter);
    },
    admit(groups, mayGo, go) {
      for (const [group, members] of [...firstOf(waiting, groups)]) {
        for (let next = members[0]; next !== undefined && mayGo(next); next = members[0]) {
          members.shift();
          go(next);
        }
        if (members.length === 0) waiting.delete(group);
      }
    },
    drain() {
      const all = [...waiting.values()].flat();
      waiting.clear();
      return all;
    },
  };
}

function* firstOf<T>(entries: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const entry of entries) {
    if (left === 0) return;
    left -= 1;
    yield entry;
  }
}
