/** @module Lets a run that may be what kills its workers run alone in its process, so that no other one is charged with the next death. */
import { setTimeout as delay } from "node:timers/promises";

/** The runs of one process. */
export interface Company {
  /**
   * Lets a run in; undefined if it must come later. A suspect waits until the others are done, at most `patience` ms, and others are not
   * let in beside it. The result is called when the run has left.
   */
  enter(isSuspect: boolean): Promise<(() => void) | undefined>;
}

export function keepCompany(patience: number): Company {
  let inside = 0;
  let isSolo = false;
  const come = (): (() => void) => {
    inside += 1;
    return () => {
      inside -= 1;
    };
  };
  return {
    async enter(isSuspect) {
      if (isSolo) return undefined;
      if (!isSuspect) return come();
      isSolo = true;
      const end = performance.now() + patience;
      while (inside > 0 && performance.now() < end) await delay(100);
      if (inside > 0) {
        isSolo = false;
        return undefined;
      }
      const leave = come();
      return () => {
        isSolo = false;
        leave();
      };
    },
  };
}
