import type { Clock } from "../../../src/model/clock.ts";
import { ServiceError } from "../../../src/model/errors.ts";
import type { Driver } from "../../../src/model/kind.ts";
import type { LeaseClock } from "../../../src/state/held-lease.ts";
import type { Fault, Request } from "./memory-driver.ts";

/** The misfortunes of one process, in virtual time. */
export interface Misfortune {
  /** Part of its requests to the store that are lost. */
  readonly losses: number;
  /** Number of the request to the store at which it is killed, and on which side of the work; `late`: the request is on its way. */
  readonly dies?: { readonly at: number; readonly is: "before" | "after" | "late" };
  /** Number of the request, to store or service, at which it is stopped, and for how many ms. */
  readonly stops?: { readonly at: number; readonly ms: number };
  /** Times at which no request comes to the store. */
  readonly outage?: { readonly from: number; readonly until: number };
}

/** A process that can be stopped, woken and killed. */
export interface Machine extends LeaseClock {
  readonly name: string;
  /** Settles as the work does, or resolves once the process is dead. */
  run(work: () => Promise<void>): Promise<void>;
  /** The driver of a kind, as this process reaches it. `mayBegin` throws where a write must not be sent. */
  kindDriver(driver: Driver, mayBegin: () => Promise<void>, onWrite: (operation: string) => void): Driver;
  /** The end of a request to the store. Waits while the process is stopped, and for ever once it is dead. */
  fault(request: Request): Promise<Fault | undefined>;
  /** The way of an answer from the store. */
  answered(): Promise<void>;
  readonly isDead: () => boolean;
  /** Requests to store and service so far. */
  readonly requests: () => number;
}

export function machine(name: string, clock: Clock, { losses, dies, stops, outage }: Misfortune): Machine {
  let count = 0;
  let requests = 0;
  let wakesAt = 0;
  let dead = false;
  let die: () => void = () => undefined;
  const death = new Promise<void>((resolve) => {
    die = resolve;
  });
  const forEver = new Promise<never>(() => undefined);

  const awake = async (): Promise<void> => {
    if (dead) return forEver;
    while (clock.now() < wakesAt) await clock.sleep(wakesAt - clock.now());
    return dead ? forEver : undefined;
  };
  /** Stops the process, where it is time to. */
  const step = async (): Promise<void> => {
    count += 1;
    if (count === stops?.at) wakesAt = clock.now() + stops.ms;
    await awake();
  };
  const kill = (): Promise<never> => {
    dead = true;
    die();
    return forEver;
  };
  const sleep: Clock["sleep"] = async (ms, signal) => {
    try {
      await clock.sleep(ms, signal);
    } finally {
      await awake();
    }
  };
  const own: Clock = { now: clock.now, random: clock.random, sleep };

  return {
    name,
    clock: own,
    monotonic: clock.now,
    patience: 3_600_000,
    every(ms, beat) {
      const stop = new AbortController();
      const beating = async (): Promise<void> => {
        while (!stop.signal.aborted && !dead) {
          await clock.sleep(ms, stop.signal);
          await awake();
          if (!stop.signal.aborted) beat();
        }
      };
      beating().catch(() => undefined);
      void death.then(() => stop.abort());
      return () => stop.abort();
    },
    run: (work) => Promise.race([work(), death]),
    kindDriver(driver, mayBegin, onWrite) {
      const asked =
        <A extends readonly unknown[], R>(
          operation: string,
          call: (...args: A) => Promise<R>,
        ): ((...args: A) => Promise<R>) =>
        async (...args) => {
          await step();
          if (operation !== "read") {
            await mayBegin();
            onWrite(operation);
          }
          const [answer] = await Promise.allSettled([call(...args)]);
          await awake();
          if (answer.status === "rejected") throw answer.reason;
          return answer.value;
        };
      return {
        ...driver,
        list: asked("read", driver.list),
        get: asked("read", driver.get),
        create: asked("create", driver.create),
        update: asked("update", driver.update),
        delete: asked("delete", driver.delete),
        operate: asked("operate", driver.operate),
      };
    },
    async fault() {
      await step();
      requests += 1;
      await sleep(5 + 40 * clock.random());
      if (dies?.at === requests && dies.is === "before") return kill();
      if (dies?.at === requests && dies.is === "late") {
        void kill();
        return "late";
      }
      const isOut = outage !== undefined && clock.now() >= outage.from && clock.now() < outage.until;
      if (!isOut && clock.random() >= losses) return undefined;
      const draw = clock.random();
      return draw < 0.4 ? "before" : draw < 0.8 ? "after" : "late";
    },
    async answered() {
      if (dies?.at === requests) return kill();
      await sleep(5 + 40 * clock.random());
    },
    isDead: () => dead,
    requests: () => count,
  };
}

/** The refusal to send what must not be sent any more. */
export function notSent(operation: string): ServiceError {
  return new ServiceError("aborted", operation, `${operation}: not sent`, { wasSent: false });
}
