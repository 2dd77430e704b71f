/** @module Renews a lease while a run works, and stops the run when it may not be ours any more. */
import type { Clock } from "../../model/clock.ts";
import { asError } from "../../model/errors.ts";
import type { Holder } from "../store.ts";
import type { Lease, StateDriver } from "./driver.ts";
import { leaseRanOut, takenAway } from "./remote-trouble.ts";
import { untilAnswered } from "./store-retry.ts";

/** The time that a lease is measured with. */
export interface LeaseClock {
  readonly clock: Clock;
  /** Ms that never go back, from any beginning. */
  readonly monotonic: () => number;
  /** Calls a function every so many ms until the result is called; keeps no process running. */
  readonly every: (ms: number, beat: () => void) => () => void;
}

/** A lease that is kept alive. */
export interface HeldLease {
  readonly id: string;
  /** The lease as the driver wants it for the next request. */
  current(): Lease;
  /** Aborted when the run must begin nothing more. */
  readonly lost: AbortSignal;
  /** Aborted when the lease is not ours any more: nothing may be written. `lost` is aborted by then. */
  readonly ended: AbortSignal;
  /** Compares the own clock with the lease; sends nothing. */
  look(): void;
  /** Renews at once, or finds out that the lock is another's. Never rejects. */
  renew(): Promise<void>;
  /** Ends the run, as when the store does not answer; the lease is renewed until it is released. */
  stop(reason: Error): void;
  /** Ends the renewals; the lease then runs out by itself. */
  abandon(): Promise<void>;
  /** Ends the renewals and gives the lock back. Never rejects. */
  release(): Promise<void>;
}

/** Renewals in one lease, and looks at the own clock in one. */
const [renewals, looks] = [3, 12];

/** The part of a lease after which a holder that could not renew it stops: the rest is for what it has sent already. */
const safePart = 2 / 3;

/**
 * Keeps a lease of `ms` alive. It is measured from the moment before the last request that renewed it was sent, by the
 * monotonic clock and by the wall clock, whichever says more: the first one stands still while a machine sleeps, the second
 * one can be set back.
 */
export function holdLease(driver: StateDriver, first: Lease, ms: number, time: LeaseClock): HeldLease {
  const { clock, monotonic, every } = time;
  const [lost, ended] = [new AbortController(), new AbortController()];
  const moment = (): Moment => ({ monotonic: monotonic(), wall: clock.now() });
  let lease = first;
  let renewed = moment();
  let trouble: Error | undefined;
  let renewing: Promise<void> | undefined;

  const end = (reason: Error): void => {
    ended.abort(reason);
    lost.abort(reason);
  };
  const age = (): number => {
    const now = moment();
    return Math.max(now.monotonic - renewed.monotonic, now.wall - renewed.wall);
  };
  const look = (): void => {
    if (driver.expires && !ended.signal.aborted && age() >= ms * safePart)
      end(leaseRanOut(driver.where, lease.holder, age(), trouble));
  };
  const ask = async (): Promise<void> => {
    look();
    if (ended.signal.aborted) return;
    const asked = moment();
    try {
      const answer = await driver.renew(lease, renewedHolder(lease.holder, asked.wall, ms));
      if (answer.is === "lost") return end(takenAway(driver.where, lease.holder, answer.to));
      lease = answer.lease;
      renewed = asked;
      trouble = undefined;
    } catch (error) {
      trouble = asError(error);
    }
    look();
  };
  const renew = (): Promise<void> => {
    const next = (renewing ?? Promise.resolve()).then(ask).finally(() => {
      if (renewing === next) renewing = undefined;
    });
    renewing = next;
    return next;
  };
  const stopBeating = every(ms / looks, () => {
    look();
    if (renewing === undefined && age() >= ms / renewals) void renew();
  });
  const abandon = async (): Promise<void> => {
    stopBeating();
    await renewing;
  };
  return {
    id: first.holder.id,
    current: () => lease,
    lost: lost.signal,
    ended: ended.signal,
    look,
    renew,
    stop: (reason) => lost.abort(reason),
    abandon,
    async release(): Promise<void> {
      await abandon();
      if (ended.signal.aborted) return;
      const giveBack = (): Promise<void> => driver.release(lease);
      // A store that ended the run by not answering is asked once.
      const given = lost.signal.aborted ? giveBack() : untilAnswered(giveBack, clock, ended.signal);
      await given.catch(() => undefined);
    },
  };
}

interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

function renewedHolder(holder: Holder, now: number, ms: number): Holder {
  const [heartbeat, expires] = [new Date(now).toISOString(), new Date(now + ms).toISOString()];
  return { ...holder, heartbeat, expires };
}
