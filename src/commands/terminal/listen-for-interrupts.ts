/** @module Turns SIGINT, SIGTERM and SIGHUP into the abort signals of a run. */
export interface Interrupts {
  /** Aborted by the first Ctrl-C: no new steps start, and waiting ends. */
  readonly stopping: AbortSignal;
  /** Aborted by the second Ctrl-C, or 2 s after the first: requests in flight are cancelled too. */
  readonly aborting: AbortSignal;
  /** Aborted by the second Ctrl-C alone: what is not stored yet goes to a local file at once, and the store gets 5 s more. */
  readonly hurrying: AbortSignal;
  release(): void;
}

/** Time for requests in flight to finish after the first Ctrl-C, in ms. */
const grace = 2000;

/** Signals that ask a run to end. Without a listener Node.js restores the default of SIGHUP, which would end even a run under `nohup`. */
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Listens for the signals. Calls `onInterrupt` once, at the first signal. */
export function listenForInterrupts(onInterrupt: () => void): Interrupts {
  const stopping = new AbortController();
  const aborting = new AbortController();
  const hurrying = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onSignal = (): void => {
    if (stopping.signal.aborted) {
      hurrying.abort(new Error("interrupted twice"));
      aborting.abort(hurrying.signal.reason);
      return;
    }
    onInterrupt();
    stopping.abort(new Error("interrupted"));
    timer = setTimeout(() => aborting.abort(new Error("interrupted")), grace);
    timer.unref();
  };
  for (const signal of signals) process.on(signal, onSignal);
  return {
    stopping: stopping.signal,
    aborting: aborting.signal,
    hurrying: hurrying.signal,
    release() {
      clearTimeout(timer);
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
