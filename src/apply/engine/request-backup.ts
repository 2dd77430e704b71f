/** @module Asks for a backup or a copy of one, and waits until the one that was asked for is complete. */
import { gracePeriod, isSettleOver } from "../../model/consistency.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import type { Backup } from "../../model/kind.ts";
import { poll } from "../../polling/poll.ts";
import { type BackupRequest, leastComplete, type Made, madeBy } from "../evidence/backups.ts";
import type { Attempts, Evidence } from "../evidence/operation.ts";
import { type ChangeContext, submitChange } from "./submit.ts";

export interface WantedBackup<Item extends Backup> {
  /** Name for messages: `backup of ID`. */
  readonly what: string;
  /** Sends the request once; gives the id in its answer, if there is one. */
  readonly send: () => Promise<string | undefined>;
  /** The backups that it could be. */
  readonly list: () => Promise<readonly Item[]>;
  readonly showsTimes: boolean;
  /** The newest time that the service has shown, in ms since 1970. */
  readonly date: () => number | undefined;
  /** Longest time for all of it, in ms. */
  readonly timeout: number;
}

/** The end of a wait; `late`: the time is up, and `item` is not complete, or not listed. */
export type BackupEnd<Item> =
  | { readonly is: "completed" | "failed"; readonly item: Item }
  | { readonly is: "late"; readonly item: Item | undefined };

/** Asks for a backup, and gives the function that waits for its end. Both throw `backup-unclear` if nothing proves which new one it is. */
export async function requestBackup<Item extends Backup>(
  wanted: WantedBackup<Item>,
  context: ChangeContext,
): Promise<() => Promise<BackupEnd<Item>>> {
  const { what, send, list, showsTimes, date, timeout } = wanted;
  const { clock, profile } = context;
  const { timing } = profile;
  const deadline = clock.now() + timeout;
  const known = await idsBefore(wanted, context);
  const since = date();
  let id: string | undefined;
  let until: number | undefined;
  /** Returns the snapshot that the request that ended at `endedAt` has made; undefined while that is too early to say. */
  const evaluate = (listed: readonly Item[], endedAt: number): Made<Item> | undefined => {
    const now = clock.now();
    if (isSettleOver(endedAt, now, timing)) until ??= date();
    const request: BackupRequest = { known, id, showsTimes, window: { since, until: until ?? date() } };
    const made = madeBy(listed, request, timing);
    if (made.certain.length > 0) return made;
    const isOver = gracePeriod(endedAt, now, timing) === "over";
    if (isOver && made.unclear.length > 0) throw unclear(what, made.unclear);
    return isOver ? made : undefined;
  };
  let emptySince: number | undefined;
  const evidence = (listed: readonly Item[], { mayHaveWorked, endedAt }: Attempts): Evidence<undefined> => {
    if (!mayHaveWorked) return { is: "repeat" };
    const made = evaluate(listed, endedAt);
    if (made === undefined) return { is: "wait" };
    if (made.certain.length > 0) return { is: "accepted", value: undefined };
    emptySince ??= clock.now();
    return { is: isSettleOver(emptySince, clock.now(), timing) ? "repeat" : "wait" };
  };
  const again = (): Promise<string | undefined> => {
    [until, emptySince] = [undefined, undefined];
    return send();
  };
  const change = { what, send: again, look: list, evaluate: evidence, timeout };
  id = (await submitChange(change, context)).value;
  const acceptedAt = clock.now();
  return async () => {
    let last: Item | undefined;
    const ended = (listed: readonly Item[]): BackupEnd<Item> | undefined => {
      last = leastComplete(evaluate(listed, acceptedAt)?.certain ?? []);
      return last === undefined || last.is === "pending" ? undefined : { is: last.is, item: last };
    };
    const end = await poll({ look: list, evaluate: ended, deadline }, context);
    return end ?? { is: "late", item: last };
  };
}

/** The ids that are listed before a request. A service that shows no times is asked twice: one list may lack an old backup. */
async function idsBefore<Item extends Backup>(
  { list, showsTimes, timeout }: WantedBackup<Item>,
  context: ChangeContext,
): Promise<ReadonlySet<string>> {
  const { clock, profile } = context;
  const ids = new Set<string>();
  const from = clock.now();
  const evaluate = (listed: readonly Item[]): true | undefined => {
    for (const { id } of listed) ids.add(id);
    return showsTimes || isSettleOver(from, clock.now(), profile.timing) ? true : undefined;
  };
  if (await poll({ look: list, evaluate, deadline: from + timeout }, context)) return ids;
  throw new GraphformError("backups-unlisted", "the backups before the request could not be listed", {
    exitCode: exitCodes.converging,
    hint: "nothing was asked for; run again when the service is well",
  });
}

function unclear(what: string, made: readonly Backup[]): GraphformError {
  const found = made.map(({ id, createdAt }) => `${id} (created ${createdAt ?? "at an unknown time"})`);
  const message = `the ${what} was asked for, and nothing proves which of these it is: ${found.join(", ")}`;
  const hint =
    "it is not asked for again in this run; look at them, and run again if none is it. If the service's clocks are apart, say so in its profile: timing.clock";
  return new GraphformError("backup-unclear", message, { hint });
}
