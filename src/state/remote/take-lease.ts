/** @module Takes the lock of a shared state, and waits for another holder as long as it may. */
import type { Clock } from "../../model/clock.ts";
import { newRecord } from "../lock-record.ts";
import type { Holder, LockOptions } from "../store.ts";
import type { Lease, StateDriver } from "./driver.ts";
import { locked } from "./remote-trouble.ts";
import { isUnreachable, untilAnswered } from "./store-retry.ts";

/** A lease that was just taken. */
export interface TakenLease {
  readonly lease: Lease;
  /** True where another holder's lease ran out, or may have: its writes must be made impossible first. */
  readonly isTakeover: boolean;
}

/** Pauses between looks at a lock that is held, in ms. */
const pauses = { first: 250, longest: 5000 };

/** Takes the lock, or throws `locked` (exit 5) once the time to wait is over. `ms` is the time of the lease. */
export async function takeLease(
  driver: StateDriver,
  operation: string,
  ms: number,
  { clock, timeout = 0, signal }: LockOptions,
): Promise<TakenLease> {
  const deadline = clock.now() + timeout;
  const { id, created } = newRecord(operation, clock.now(), ms);
  for (let pause = pauses.first; ; pause = Math.min(pauses.longest, pause * 2)) {
    signal?.throwIfAborted();
    let attempts = 0;
    const take = (attempt: number): ReturnType<StateDriver["take"]> => {
      attempts = attempt;
      return driver.take({ ...holderNow(operation, clock, ms), id, created });
    };
    const taken = await untilAnswered(take, { clock, signal }).catch(async (error: unknown) => {
      if (isUnreachable(error) || signal?.aborted) await removeIfTaken(driver, id);
      throw error;
    });
    // An answer that was lost may have said that it was a takeover.
    if (taken.is === "taken")
      return { lease: taken.lease, isTakeover: taken.over !== undefined || attempts > 1 };
    const left = deadline - clock.now();
    if (left <= 0) throw locked(driver, taken.by, taken.age);
    await clock.sleep(Math.min(left, pause * (0.8 + 0.4 * clock.random())), signal);
  }
}

/** A request without an answer may have taken the lock, and nobody else would remove it where locks do not expire. */
async function removeIfTaken(driver: StateDriver, id: string): Promise<void> {
  await driver.remove(id).catch(() => undefined);
}

function holderNow(operation: string, clock: Clock, lease: number): Holder {
  const { id, who, pid, host, created, heartbeat, expires } = newRecord(operation, clock.now(), lease);
  return { id, who, pid, host, operation, created, heartbeat, expires };
}
