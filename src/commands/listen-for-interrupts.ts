/** The two signals of an interrupted run. */
export interface Interrupts {
  /** First Ctrl-C: no new steps, no more waiting. */
  readonly stopping: AbortSignal;
  /** Requests in flight are let go as well: the second Ctrl-C, or a moment after the first. */
  readonly aborting: AbortSignal;
  /** Stops listening. */
  release(): void;
}

/** How long requests in flight may take to finish after the first Ctrl-C, in ms. */
const grace = 2000;

/**
 * Everything that asks a run to end. A terminal that is closed sends SIGHUP to what was started in it, also where nothing
 * is printed there. Node.js takes it back that `nohup` has SIGHUP ignored: without a listener it would end such a run at once.
 */
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Listens for SIGINT, SIGTERM and SIGHUP. `tell` is called once, at the first. */
export function listenForInterrupts(tell: () => void): Interrupts {
  const stopping = new AbortController();
  const aborting = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onSignal = (): void => {
    if (stopping.signal.aborted) {
      aborting.abort(new Error("interrupted twice"));
      return;
    }
    tell();
    stopping.abort(new Error("interrupted"));
    timer = setTimeout(() => aborting.abort(new Error("interrupted")), grace);
    timer.unref();
  };
  for (const signal of signals) process.on(signal, onSignal);
  return {
    stopping: stopping.signal,
    aborting: aborting.signal,
    release() {
      clearTimeout(timer);
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
