/** @module Renews a lease while a run works, and stops the run when it may not be ours any more. */
import { type Clock, callAfter } from "../model/clock.ts";
import { asError, isGraphformError } from "../model/errors.ts";
import { orAborted, singleFlight } from "../model/once.ts";
import { leaseRanOut, leftStanding, replaced, takenAway } from "./lock-words.ts";
import type { Lease, StateDriver } from "./remote/driver.ts";
import { unreachable } from "./remote/store-refusals.ts";
import { untilAnswered } from "./remote/store-retry.ts";
import type { Holder, Lock } from "./store.ts";

export interface LeaseClock {
  readonly clock: Clock;
  /** Ms that never go back, from any beginning. */
  readonly monotonic: () => number;
  /** Calls a function every so many ms until the result is called; keeps no process running. */
  readonly every: (ms: number, beat: () => void) => () => void;
  /** Longest time for giving a lock back, in ms. */
  readonly patience: number;
}

/** The time of this process; a lock is given back within 20 s. */
export function leaseClock(clock: Clock): LeaseClock {
  return {
    clock,
    monotonic: () => performance.now(),
    every(ms, beat) {
      const timer = setInterval(beat, ms);
      timer.unref();
      return () => clearInterval(timer);
    },
    patience: 20_000,
  };
}

/** Time of a lease in ms, if none is given. */
export const defaultLease = 60_000;

/** The holder with a fresh heartbeat; the text of its times has the same length as before. */
export function withHeartbeat<Kind extends Holder>(holder: Kind, now: number, lease: number): Kind {
  return { ...holder, heartbeat: new Date(now).toISOString(), expires: new Date(now + lease).toISOString() };
}

export interface HeldLease extends Pick<Lock, "id" | "lost" | "look"> {
  /** The lease as the driver wants it for the next request. */
  current(): Lease;
  /** Aborted when the lease is not ours any more: nothing may be written. `lost` is aborted by then. */
  readonly ended: AbortSignal;
  /** Longest time without a proof that the lock is ours, in ms: no step begins after it. */
  readonly safe: number;
  /** Aborted when the store is not waited for any more: nothing is written, and the lock may be left standing: the lease has ended, or was being given back. */
  readonly late: AbortSignal;
  /** Gives the store 5 s more for everything, and is `late` then. */
  hurry(): void;
  /** Renews at once, or ends. Never rejects. */
  renew(): Promise<void>;
  /** Ends the run, as when the store does not answer; the lease is renewed until it is released. */
  stop(reason: Error): void;
  /** Ends the renewals; the lease then runs out by itself. */
  abandon(): Promise<void>;
  /** Ends the renewals and gives the lock back. Resolves with a warning if it may be left standing. */
  release(): Promise<string | undefined>;
}

/** Renewals in one lease, and readings of the own clock in one. */
const [renewals, clockReadings] = [3, 12];

/** The part of a lease after which a holder that could not renew it stops: the rest is for requests that it has sent. */
const safePart = 2 / 3;

/**
 * Keeps a lease of `ms` alive. Its age counts from the moment before the last request that renewed it was sent, by the clock, monotonic
 * or wall, that says that more time has passed: the first stands still while a machine sleeps, the second can be set back. A lock that
 * does not run out is ours while its store shows no other one and `isUnchanged`: a run that removes it writes first.
 */
export function holdLease(
  driver: Pick<StateDriver, "where" | "expires" | "renew" | "release">,
  first: Lease,
  ms: number,
  time: LeaseClock,
  isUnchanged: () => Promise<boolean> = async () => true,
): HeldLease {
  const { clock, monotonic, every, patience } = time;
  const safe = ms * safePart;
  const [lost, ended, late] = [new AbortController(), new AbortController(), new AbortController()];
  const moment = (): Moment => ({ monotonic: monotonic(), wall: clock.now() });
  let lease = first;
  let renewedAt = moment();
  let trouble: Error | undefined;
  let renewing: Promise<void> | undefined;
  /** Another lock stands in place of ours. */
  let isOthers = false;
  /** Another run has written: ours may still stand, and may have been removed. */
  let isReplaced = false;
  /** The time at which the request that is on its way was sent, and the last reading of the own clock. */
  let sentAt: Moment | undefined;
  let clockReadAt = renewedAt;
  let released: Promise<string | undefined> | undefined;

  const end = (reason: Error): void => {
    ended.abort(reason);
    lost.abort(reason);
  };
  const since = (then: Moment): number => {
    const now = moment();
    return Math.max(now.monotonic - then.monotonic, now.wall - then.wall);
  };
  const age = (): number => since(renewedAt);
  const isStale = (): boolean => !ended.signal.aborted && age() >= safe;
  /** A request that has no answer yet is the cause, unless this process has not read its clock meanwhile either. */
  const silence = (): Error | undefined =>
    sentAt === undefined || since(clockReadAt) > (2 * ms) / clockReadings
      ? undefined
      : unreachable(driver.where, `has not answered for ${Math.round(since(sentAt) / 1000)} s`);
  const ranOut = (): void => end(leaseRanOut(driver.where, lease.holder, age(), trouble ?? silence()));
  const endIfOver = (): void => {
    if (driver.expires && isStale()) ranOut();
  };
  const ask = async (): Promise<void> => {
    endIfOver();
    if (ended.signal.aborted) return;
    const asked = moment();
    sentAt = asked;
    try {
      const answer = await driver.renew(lease, withHeartbeat(lease.holder, asked.wall, ms));
      isOthers = answer.is === "lost";
      if (answer.is === "lost") return end(takenAway(driver.where, lease.holder, answer.to));
      lease = answer.lease;
      isReplaced = !driver.expires && !(await isUnchanged());
      if (isReplaced) return end(replaced(driver.where, lease.holder));
      renewedAt = asked;
      trouble = undefined;
    } catch (error) {
      trouble = asError(error);
    } finally {
      sentAt = undefined;
    }
    endIfOver();
  };
  const renew = (): Promise<void> => {
    const next = (renewing ?? Promise.resolve()).then(ask).finally(() => {
      if (renewing === next) renewing = undefined;
    });
    renewing = next;
    return orAborted(next, late.signal).catch(() => undefined);
  };
  const answered = async (): Promise<void> => {
    await renew();
    if (trouble !== undefined && !ended.signal.aborted) throw trouble;
  };
  /** One proof for all that wait for it. */
  const prove = singleFlight(async () => {
    if (!isStale()) return;
    await untilAnswered(answered, { clock, signal: ended.signal, longest: safe }).catch(() => undefined);
    if (isStale()) ranOut();
  });
  const look = (): Promise<void> | undefined => {
    endIfOver();
    return ended.signal.aborted || isStale() ? prove() : undefined;
  };
  const stopBeating = every(ms / clockReadings, () => {
    endIfOver();
    clockReadAt = moment();
    if (renewing === undefined && age() >= ms / renewals) void renew();
  });
  const abandon = async (): Promise<void> => {
    stopBeating();
    await renewing;
  };
  const giveBack = async (): Promise<void> => {
    await abandon();
    // Another run has it, or it runs out by itself.
    if (isOthers || (driver.expires && ended.signal.aborted)) return;
    const free = async (attempt = 1): Promise<void> => {
      try {
        await driver.release(lease);
      } catch (error) {
        // An earlier attempt whose answer was lost has done it, or another run has written since.
        const mayBeGone = attempt > 1 || isReplaced;
        if (!mayBeGone || !isGraphformError(error) || error.code !== "lock-unknown") throw error;
      }
    };
    const stopTimer = callAfter(patience, () => late.abort(unreachable(driver.where, "does not answer")));
    // A store that ended the run by not answering is asked once.
    const given = lost.signal.aborted
      ? free()
      : untilAnswered(free, { clock, signal: late.signal, longest: safe });
    await given.finally(stopTimer);
  };
  return {
    id: first.holder.id,
    safe,
    current: () => lease,
    lost: lost.signal,
    ended: ended.signal,
    late: late.signal,
    hurry() {
      const stop = every(5000, () => {
        stop();
        end(unreachable(driver.where, "did not answer within 5 s after the second interrupt"));
        late.abort(ended.signal.reason);
      });
    },
    look,
    renew,
    stop: (reason) => lost.abort(reason),
    abandon,
    release(): Promise<string | undefined> {
      released ??= orAborted(giveBack(), late.signal).then(
        () => undefined,
        (error: unknown) => leftStanding(driver, lease.holder, asError(error)),
      );
      return released;
    },
  };
}

interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}
