/** @module Takes the lock of a shared state, and waits for another holder as long as it may. */
import type { Clock } from "../../model/clock.ts";
import { isTimeUp } from "../../model/time-limit.ts";
import { emptyState, nextVersion, stateFormatter } from "../document.ts";
import type { HeldLease } from "../held-lease.ts";
import { holderOf, newRecord, within } from "../lock.ts";
import { heldByAnother, holderWith, notFenced } from "../lock-words.ts";
import { movedDocument, movedText } from "../moved.ts";
import type { LockOptions } from "../store.ts";
import type { Lease, StateDriver, Taken } from "./driver.ts";
import { readStored } from "./read-stored.ts";
import { isUnreachable, untilAnswered, type WaitLimit } from "./store-retry.ts";

/** Time in ms for giving back what a request without an answer may have taken, once the time of the run is up. */
const lastTry = 2000;

/** Pauses between looks at a lock that is held, in ms. */
const pauses = { first: 250, longest: 5000 };

/**
 * Takes the lock, or throws `locked` (exit 5) once the time to wait is over. `ms` is the time of the lease. `isTakeover`: another
 * holder's lease ran out, or may have, and its writes must be made impossible first.
 */
export async function takeLease(
  driver: StateDriver,
  operation: string,
  ms: number,
  { clock, timeout = 0, signal = new AbortController().signal }: LockOptions,
  limit?: WaitLimit,
): Promise<{ readonly lease: Lease; readonly isTakeover: boolean }> {
  const { id, created } = newRecord(operation, clock.now(), ms);
  let held: Extract<Taken, { readonly is: "held" }> | undefined;
  /** A request without an answer may have taken the lock, which no other run removes if locks do not expire. */
  const removeOwn = (): Promise<unknown> => driver.remove(id).catch(() => undefined);
  const look = async (): Promise<Awaited<ReturnType<typeof takeLease>> | undefined> => {
    let attempts = 0;
    const take = (attempt: number): ReturnType<StateDriver["take"]> => {
      attempts = attempt;
      return driver.take({ ...holderOf(newRecord(operation, clock.now(), ms)), id, created });
    };
    const taken = await untilAnswered(take, { clock, signal, limit }).catch(async (error: unknown) => {
      if (isUnreachable(error) || signal.aborted)
        await Promise.race([removeOwn(), ...(isTimeUp(error) ? [clock.sleep(lastTry)] : [])]);
      throw error;
    });
    held = taken.is === "held" ? taken : undefined;
    // An answer that was lost may have said that it was a takeover.
    return taken.is === "taken"
      ? { lease: taken.lease, isTakeover: taken.over !== undefined || attempts > 1 }
      : undefined;
  };
  const taken = await within(timeout, pauses, { clock, signal }, look);
  if (taken !== undefined) return taken;
  throw heldByAnother(driver, held?.by ?? holderWith({}), held?.age);
}

/** Versions that the holder before may write meanwhile. */
const tries = 100;

/**
 * Writes the stored document once more as its next version, or an empty state if nothing is stored: every write of the holder before is
 * stale from now on. Rejects with `state-not-fenced`, or with the fault of the stored document.
 */
export async function raiseFence(
  driver: StateDriver,
  held: HeldLease,
  name: string,
  clock: Clock,
): Promise<void> {
  const format = stateFormatter();
  const nextText = (before: string | undefined): string => {
    // The document of a move stays one, with a new version.
    const moved = before === undefined ? undefined : movedDocument(before);
    if (moved !== undefined) return movedText({ ...moved, ...nextVersion(moved, clock.now()) });
    const state = before === undefined ? emptyState(name) : readStored(before, driver.where, name);
    return format({ ...state, ...nextVersion(state, clock.now()) });
  };
  /** False if the document was changed meanwhile. A write without an answer is repeated as another version: either is a fence. */
  const rewrite = async (): Promise<boolean> => {
    const stored = await driver.read();
    const text = nextText(stored?.text);
    await held.look();
    held.ended.throwIfAborted();
    return (await driver.write(text, stored?.version, held.current())).is === "written";
  };
  const options = { clock, signal: held.ended, longest: held.safe };
  try {
    for (let attempt = 0; attempt < tries; attempt += 1) if (await untilAnswered(rewrite, options)) return;
  } catch (error) {
    throw isUnreachable(error) ? notFenced(driver, held.current().holder, error) : error;
  }
  throw notFenced(driver, held.current().holder);
}
