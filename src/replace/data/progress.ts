/** @module Counts what was copied or compared, and estimates the time that is left. */
/** Progress of a copy or of a comparison. */
export interface Progress {
  readonly keys: { readonly done: number; readonly of: number };
  /** Bytes of dumps in a copy, rows of graphs in a comparison. */
  readonly amount: number;
  /** Estimated time left in ms; absent in the beginning. */
  readonly left?: number;
}

export type OnProgress = (progress: Progress) => void;

/** Reports the keys and the amount that were done since the last report. */
export type Count = (keys: number, amount: number) => void;

export function countProgress(
  total: { readonly keys: number; readonly amount: number },
  report: OnProgress = () => undefined,
): Count {
  const begun = performance.now();
  const done = { keys: 0, amount: 0 };
  return (keys, amount) => {
    done.keys += keys;
    done.amount += amount;
    const passed = performance.now() - begun;
    const share = total.amount > 0 ? done.amount / total.amount : done.keys / Math.max(1, total.keys);
    report({
      keys: { done: done.keys, of: Math.max(done.keys, total.keys) },
      amount: done.amount,
      ...(share > 0.02 ? { left: Math.max(0, Math.round(passed / share - passed)) } : {}),
    });
  };
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}
