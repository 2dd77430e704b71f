/** @module Counts what was copied or compared, and estimates the time that is left. */

/** Progress of a copy or of a comparison. */
export interface Progress {
  readonly keys: Share;
  /** Bytes of dumps in a copy, rows of graphs in a comparison. `of` is estimated from memory unless a rehearsal measured it. */
  readonly amount: Share;
  /** The key that just began or ended. */
  readonly key?: { readonly database: number; readonly name: string; readonly is: "started" | "done" };
  /** Estimated time left in ms; absent in the beginning. */
  readonly left?: number;
}

export interface Share {
  readonly done: number;
  readonly of: number;
}

export type OnProgress = (progress: Progress) => void;

/** Counts, and reports each step. */
export interface Counter {
  started(database: number, name: string): void;
  done(database: number, name: string, keys: number, amount: number): void;
}

export function countProgress(
  total: { readonly keys: number; readonly amount: number },
  report: OnProgress = () => undefined,
): Counter {
  const begun = performance.now();
  let [keys, amount] = [0, 0];
  const say = (key: Progress["key"]): void => {
    const passed = performance.now() - begun;
    const share = total.amount > 0 ? amount / total.amount : keys / Math.max(1, total.keys);
    report({
      keys: { done: keys, of: Math.max(keys, total.keys) },
      amount: { done: amount, of: Math.max(amount, total.amount) },
      ...(key === undefined ? {} : { key }),
      ...(share > 0.02 ? { left: Math.max(0, Math.round(passed / share - passed)) } : {}),
    });
  };
  return {
    started: (database, name) => say({ database, name, is: "started" }),
    done(database, name, moreKeys, more) {
      keys += moreKeys;
      amount += more;
      say({ database, name, is: "done" });
    },
  };
}
