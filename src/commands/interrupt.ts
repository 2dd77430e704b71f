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

/** A closed terminal ends a run in order as well. Without one SIGHUP is left as it is: `nohup` has it ignored. */
function signalsOf({ stdin, stdout, stderr }: NodeJS.Process): readonly NodeJS.Signals[] {
  const hasTerminal = [stdin, stdout, stderr].some((stream) => stream.isTTY);
  return ["SIGINT", "SIGTERM", ...(hasTerminal ? (["SIGHUP"] as const) : [])];
}

/** Listens for SIGINT, SIGTERM and the end of the terminal. `tell` is called once, at the first. */
export function listenForInterrupts(tell: () => void): Interrupts {
  const signals = signalsOf(process);
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
