/** @module Names holders of locks, and words the failures of locks and shared states, each with the remedy. */
import { exitCodes, GraphformError, shellWord } from "../model/errors.ts";
import type { Hide } from "../model/known-secrets.ts";
import type { StateDriver } from "./remote/driver.ts";
import type { Holder } from "./store.ts";

const epoch = "1970-01-01T00:00:00.000Z";

/** A holder of whom nothing is known. No lock can be removed by its id. */
const unknown: Holder = {
  ...{ id: "unknown", who: "somebody", pid: 1, host: "unknown", operation: "something" },
  ...{ created: epoch, heartbeat: epoch, expires: epoch },
};

export function holderWith(known: Partial<Holder>): Holder {
  return { ...unknown, ...known };
}

/** True for the holder of a lock whose store does not show its id. */
export function isUnknown({ id }: Pick<Holder, "id">): boolean {
  return id === unknown.id;
}

/** Replaces secrets in the text of a holder; its id and its times stay as they are. */
export function redactedHolder<Kind extends Pick<Holder, "who" | "operation" | "host">>(
  holder: Kind,
  hide: Hide,
): Kind {
  const { who, operation, host } = holder;
  return { ...holder, who: hide(who), operation: hide(operation), host: hide(host) };
}

/** Characters of a name that are repeated: a holder writes any text. */
const maxName = 80;

function cut(text: string): string {
  return text.length > maxName ? `${text.slice(0, maxName)}...` : text;
}

/** The holder and its process: `ann@host (process 7)`; the name alone if no process is known. */
export function holderName({ who, pid }: Pick<Holder, "who" | "pid">): string {
  return pid === unknown.pid ? cut(who) : `${cut(who)} (process ${pid})`;
}

/** Its work, to put after the name: ` for apply`; empty if unknown. */
export function holderWork({ operation }: Pick<Holder, "operation">): string {
  return operation === unknown.operation ? "" : ` for ${cut(operation)}`;
}

/** The time at which it took the lock, to be put after its work; empty if it is not known. */
export function holderSince({ created }: Pick<Holder, "created">, word: "since" | "at" = "since"): string {
  return created === unknown.created ? "" : ` ${word} ${created}`;
}

/** The way to remove its lock once its process is gone. */
export function unlockHint({ id }: Pick<Holder, "id">): string {
  return isUnknown({ id })
    ? "the store does not show the id of its lock: if that process is surely gone, remove the lock at the store itself"
    : `if that process is surely gone, run: graphform state unlock ${shellWord(id)}`;
}

type StoreFacts = Pick<StateDriver, "where" | "expires">;

/** The refusal to wait any longer for another holder. `age` is the time in ms since it was last seen, by the clock of the store. */
export function heldByAnother(
  { where, expires }: StoreFacts,
  holder: Holder,
  age: number | undefined,
): GraphformError {
  const { heartbeat } = holder;
  const when = age === undefined ? `at ${heartbeat}` : `${seconds(age)} ago`;
  const seen = expires ? `, and was last seen ${when}` : "";
  const way = expires
    ? `; its lease ends by itself ${seconds(Date.parse(holder.expires) - Date.parse(holder.heartbeat))} after it was last seen, and graphform state unlock ${shellWord(holder.id)} --force takes the lock from it`
    : `; this store's locks never end by themselves; ${unlockHint(holder)}`;
  return new GraphformError(
    "locked",
    `the state ${where} is locked: ${holderName(holder)} has held it${holderWork(holder)}${holderSince(holder)}${seen}`,
    { exitCode: exitCodes.locked, hint: `wait for it with --lock-timeout 5m${way}` },
  );
}

/** The end of a run whose lock was taken over or removed. */
export function takenAway(where: string, { id, operation }: Holder, taker?: Holder): GraphformError {
  const by =
    taker === undefined ? "" : ` by ${holderName(taker)}${holderWork(taker)}${holderSince(taker, "at")}`;
  const message = `the lock ${id} of ${where} was taken away${by} while ${operation} was at work`;
  return lockLost(message);
}

/** The end of a run that finds another version stored than its own: written after the lock was removed. */
export function replaced(where: string, { id, operation }: Holder): GraphformError {
  const message = `the lock ${id} of ${where} was removed while ${operation} was at work: another program has written the state since`;
  return lockLost(message);
}

function lockLost(message: string): GraphformError {
  const hint = "nothing new was started after that was seen; look at the state, then run the command again";
  return new GraphformError("lock-lost", message, { hint });
}

/** The warning that a lock may be left standing at the end of a run. */
export function leftStanding(
  { where, expires }: StoreFacts,
  { id, who, expires: until }: Holder,
  { message }: Error,
): string {
  const way = expires
    ? `it ends by itself at ${until}, or with graphform state unlock ${shellWord(id)} --force`
    : `it never ends by itself: graphform state unlock ${shellWord(id)}`;
  return `the lock ${id} of ${who} at ${where} could not be given back and may be left standing (${message}); ${way}`;
}

/** The end of a run that could not renew its lock, by its own clock; `age` in ms. */
export function leaseRanOut(
  where: string,
  { id, operation }: Holder,
  age: number,
  cause: Error | undefined,
): GraphformError {
  const why = cause === undefined ? "this process was stopped meanwhile" : cause.message;
  const message = `the lock ${id} of ${where} could not be renewed for ${seconds(age)} while ${operation} was at work: ${why}`;
  const hint =
    "nothing new was started after that, since another run may have the lock; run the command again";
  return new GraphformError("lock-lost", message, { hint, cause });
}

/** The refusal to begin under a lock that was taken over, while the holder before could still write. */
export function notFenced({ where, expires }: StoreFacts, { id }: Holder, cause?: unknown): GraphformError {
  const way = expires
    ? "run the command again once the lease of this attempt has run out"
    : `run: graphform state unlock ${shellWord(id)}`;
  const message = `the lock of ${where} was taken over, but the holder before could not be kept from writing; the lock is left standing as ${id}`;
  return new GraphformError("state-not-fenced", message, { hint: `nothing was begun; ${way}`, cause });
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
  const message = `the lock ${id} is not removed: ${holderName(holder)} is at work on ${operation} and was last seen at ${heartbeat}`;
  const hint = `wait for it, or end that process; graphform state unlock ${shellWord(id)} --force takes the lock from it nevertheless`;
  return new GraphformError("lock-alive", message, { hint });
}

/** The refusal to write without a lock: a mistake of the program. */
export function notLocked(where: string): GraphformError {
  return new GraphformError("state-not-locked", `the state ${where} is written under its lock alone`);
}

function seconds(ms: number): string {
  if (Number.isNaN(ms)) return "some time";
  return ms < 180_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
}
