/** @module Words what can go wrong with a shared state and its lock, each with the way out. */
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { holderName, holderSince, holderWork, unknownTime, unlockHint } from "../holder-words.ts";
import type { Holder } from "../store.ts";
import type { StateDriver } from "./driver.ts";

type StoreFacts = Pick<StateDriver, "where" | "expires">;

/** The refusal to wait any longer for another holder. `now` in ms since 1970. */
export function locked({ where, expires }: StoreFacts, holder: Holder, now: number): GraphformError {
  const { id, created, heartbeat } = holder;
  const age = created === unknownTime ? "" : `, ${ago(created, now)}`;
  const seen = expires ? `, and was last seen ${ago(heartbeat, now)}` : age;
  const way = expires
    ? `; its lease ends by itself ${leaseOf(holder)} after it was last seen, and graphform state unlock ${id} --force takes the lock from it`
    : `; this store's locks never end by themselves; ${unlockHint(holder)}`;
  return new GraphformError(
    "locked",
    `the state ${where} is locked: ${holderName(holder)} has held it${holderWork(holder)}${holderSince(holder)}${seen}`,
    { exitCode: exitCodes.locked, hint: `wait for it with --lock-timeout 5m${way}` },
  );
}

/** The end of a run whose lock is another's now, or was removed. */
export function takenAway(where: string, { id, operation }: Holder, taker?: Holder): GraphformError {
  const by =
    taker === undefined ? "" : ` by ${holderName(taker)}${holderWork(taker)}${holderSince(taker, "at")}`;
  return new GraphformError(
    "lock-lost",
    `the lock ${id} of ${where} was taken away${by} while ${operation} was at work`,
    { hint: "nothing new was started after that; look at the state, then run the command again" },
  );
}

/** The end of a run that could not renew its lock, by its own clock; `age` in ms. */
export function leaseRanOut(
  where: string,
  { id, operation }: Holder,
  age: number,
  cause: Error | undefined,
): GraphformError {
  const why = cause === undefined ? "this process was stopped meanwhile" : cause.message;
  return new GraphformError(
    "lock-lost",
    `the lock ${id} of ${where} could not be renewed for ${seconds(age)} while ${operation} was at work: ${why}`,
    {
      hint: "nothing new was started after that, since another run may have the lock; run the command again",
      cause,
    },
  );
}

/** The refusal to begin under a lock that was taken over, while the holder before could still write. */
export function notFenced({ where, expires }: StoreFacts, { id }: Holder, cause?: unknown): GraphformError {
  const way = expires
    ? "run the command again once the lease of this attempt has run out"
    : `run: graphform state unlock ${id}`;
  return new GraphformError(
    "state-not-fenced",
    `the lock of ${where} was taken over, but the holder before could not be kept from writing; the lock is left standing as ${id}`,
    { hint: `nothing was begun; ${way}`, cause },
  );
}

/** The refusal to remove a lock that has another id, or is not there. */
export function unknownLock(where: string, id: string, found: Holder | undefined): GraphformError {
  const now =
    found === undefined
      ? "it is not locked"
      : `it is locked as ${found.id} by ${holderName(found)}${holderWork(found)}`;
  return new GraphformError("lock-unknown", `there is no lock ${id} at ${where}: ${now}`, {
    ...(found === undefined ? {} : { hint: unlockHint(found) }),
  });
}

/** The refusal to remove a lock whose lease is kept. */
export function alive({ id, operation, heartbeat, ...holder }: Holder): GraphformError {
  return new GraphformError(
    "lock-alive",
    `the lock ${id} is not removed: ${holderName(holder)} is at work on ${operation} and was last seen at ${heartbeat}`,
    {
      hint: `wait for it, or end that process; graphform state unlock ${id} --force takes the lock from it all the same`,
    },
  );
}

/** The refusal to write without a lock: a mistake of the program. */
export function notLocked(where: string): GraphformError {
  return new GraphformError("state-not-locked", `the state ${where} is written under its lock alone`);
}

function leaseOf({ heartbeat, expires }: Holder): string {
  return seconds(Date.parse(expires) - Date.parse(heartbeat));
}

function ago(time: string, now: number): string {
  return `${seconds(Math.max(0, now - Date.parse(time)))} ago`;
}

function seconds(ms: number): string {
  if (Number.isNaN(ms)) return "some time";
  return ms < 180_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
}
