/** @module Keeps the creates of a class that wait for their turn. */

/** Waiting entries in groups; those of one group may always go together. Both are in the order in which they came. */
export interface CreateQueue<Waiter> {
  readonly isEmpty: boolean;
  first(): Waiter | undefined;
  add(group: string, waiter: Waiter): void;
  /** Takes out whoever may go now. Looks at the first entry of each of the first `groups` groups, so it does not get slower with what waits. */
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
