/** @module Makes the writes of the holder before impossible. */
import type { Clock } from "../../model/clock.ts";
import { emptyState, nextVersion } from "../document.ts";
import { stateFormatter } from "../format-state.ts";
import { movedDocument, movedText } from "../moved.ts";
import type { StateDriver } from "./driver.ts";
import type { HeldLease } from "./held-lease.ts";
import { readStored } from "./read-stored.ts";
import { notFenced } from "./remote-trouble.ts";
import { isUnreachable, untilAnswered } from "./store-retry.ts";

/** Versions that the holder before may write meanwhile. */
const tries = 100;

/**
 * Writes the stored document once more as its next version. A holder before that was stopped and wakes up expects the version
 * that it knew, so every write of its own is stale from now on. Where nothing is stored an empty state is written. Rejects with
 * `state-not-fenced`, or with what is wrong with the stored document.
 */
export async function raiseFence(
  driver: StateDriver,
  held: HeldLease,
  name: string,
  clock: Clock,
): Promise<void> {
  const format = stateFormatter();
  try {
    for (let attempt = 0; attempt < tries; attempt += 1)
      if (
        await untilAnswered(() => rewrite(driver, held, name, clock, format), {
          clock,
          signal: held.ended,
          longest: held.safe,
        })
      )
        return;
  } catch (error) {
    throw isUnreachable(error) ? notFenced(driver, held.current().holder, error) : error;
  }
  throw notFenced(driver, held.current().holder);
}

/** False where the document was changed meanwhile. A write without an answer is repeated as another version: either is a fence. */
async function rewrite(
  driver: StateDriver,
  held: HeldLease,
  name: string,
  clock: Clock,
  format: ReturnType<typeof stateFormatter>,
): Promise<boolean> {
  const nextText = (before: string | undefined): string => {
    // A state that was moved, or is being moved, stays what it is.
    const moved = before === undefined ? undefined : movedDocument(before);
    if (moved !== undefined) return movedText({ ...moved, ...nextVersion(moved, clock.now()) });
    const state = before === undefined ? emptyState(name) : readStored(before, driver.where, name);
    return format({ ...state, ...nextVersion(state, clock.now()) });
  };
  const stored = await driver.read();
  const text = nextText(stored?.text);
  await held.look();
  held.ended.throwIfAborted();
  return (await driver.write(text, stored?.version, held.current())).is === "written";
}
