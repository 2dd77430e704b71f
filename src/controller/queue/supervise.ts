/** @module Looks for jobs of dead workers, but not after the database was away: then every heartbeat looks old. */

/**
 * Calls `supervise` every `interval` ms. After an answer that failed or came late, it waits for more than one `heartbeat` ms of steady
 * answers before the next look counts workers as dead.
 */
export function superviseSteadily(
  supervise: () => Promise<void>,
  { heartbeat, interval }: { readonly heartbeat: number; readonly interval: number },
  answers: () => Promise<void>,
): { readonly stop: () => void } {
  let steadySince = performance.now();
  let isBusy = false;
  const look = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    const begun = performance.now();
    try {
      await answers();
      if (performance.now() - begun > interval) steadySince = performance.now();
      else if (begun - steadySince > heartbeat * 1.2) await supervise();
    } catch {
      steadySince = performance.now();
    } finally {
      isBusy = false;
    }
  };
  let last = performance.now();
  const timer = setInterval(() => {
    // A process that stood still does not know how long the others did.
    if (performance.now() - last > interval * 3) steadySince = performance.now();
    last = performance.now();
    void look();
  }, interval);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
