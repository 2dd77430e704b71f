/** @module Decides which listed backup is the one that was asked for. Pure. */
import type { Backup } from "../../model/kind.ts";
import type { Timing } from "../../model/service.ts";
import { type TimeWindow, timeliness } from "./time-window.ts";

export interface BackupRequest {
  /** Ids that were listed before it. */
  readonly known: ReadonlySet<string>;
  /** The id in its answer, which may be that of another thing. */
  readonly id: string | undefined;
  readonly window: TimeWindow;
  /** False if the service shows no times of backups: then all that are new count. */
  readonly showsTimes: boolean;
}

export interface Made<Item> {
  readonly certain: readonly Item[];
  /** New ones, of which the time proves nothing. */
  readonly unclear: readonly Item[];
}

/** Splits the listed backups: by the id of the answer, or by the time of their creation. Automatic and older ones are neither. */
export function madeBy<Item extends Pick<Backup, "id" | "isAutomatic" | "createdAt">>(
  listed: readonly Item[],
  { known, id, window, showsTimes }: BackupRequest,
  timing: Pick<Timing, "clock">,
): Made<Item> {
  const fresh = listed.filter((item) => !known.has(item.id));
  const named = fresh.filter((item) => item.id === id);
  if (named.length > 0) return { certain: named, unclear: [] };
  const byTime = Map.groupBy(
    fresh.filter(({ isAutomatic }) => !isAutomatic),
    ({ createdAt }) => timeliness(createdAt, window, timing),
  );
  const of = (time: ReturnType<typeof timeliness>): readonly Item[] => byTime.get(time) ?? [];
  if (!showsTimes) return { certain: [...of("within"), ...of("unknown")], unclear: of("after") };
  return { certain: of("within"), unclear: [...of("after"), ...of("unknown")] };
}

/** The one that decides: any that is not complete comes before those that are. Undefined if there is none. */
export function leastComplete<Item extends Pick<Backup, "is">>(made: readonly Item[]): Item | undefined {
  return made.find(({ is }) => is === "pending") ?? made.find(({ is }) => is === "failed") ?? made[0];
}
