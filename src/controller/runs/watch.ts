/** @module Watches a run while a worker carries it out: writes its events, and sees that it is canceled or another worker's. */
import { addEvents } from "./moves.ts";
import type { RunEvent } from "./transitions.ts";
import { countFor, type WorkerWorld } from "./world.ts";

/** Why a run was ended early. */
export type EndReason = "canceled" | "stopping" | "lost";

export interface Watch {
  /** Aborted with one of `EndReason`. */
  readonly signal: AbortSignal;
  reason(): EndReason | undefined;
  /** Adds an event to the log. `isProgress`: the run is not charged any more with the deaths of workers before it. */
  add(event: RunEvent, isProgress?: boolean): void;
  /** Writes what is left, and ends the watch. */
  end(): Promise<void>;
}

/** Ms between two looks. */
const interval = 1_000;

/** A database that does not answer ends nothing: the lease of the state says when a run may not go on. */
export function watchRun(world: WorkerWorld, run: string, fence: number): Watch {
  const { database, stopping } = world;
  const ended = new AbortController();
  let pending: RunEvent[] = [];
  let hasProgress = false;
  let looking: Promise<void> | undefined;

  const look = async (): Promise<void> => {
    const [events, progress] = [pending, hasProgress];
    [pending, hasProgress] = [[], false];
    try {
      const found = await database.transaction().execute(async (tx) => {
        if (!(await addEvents(tx, run, fence, events, progress ? { attempts: 0 } : {}))) return undefined;
        return tx.selectFrom("runs").select("cancel_requested_at").where("id", "=", run).executeTakeFirst();
      });
      if (found === undefined) {
        ended.abort("lost" satisfies EndReason);
        await countFor(database, world.id, "fenced");
      } else if (found.cancel_requested_at !== null) ended.abort("canceled" satisfies EndReason);
    } catch {
      pending = [...events, ...pending];
      hasProgress ||= progress;
    }
  };
  const beat = (): void => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
  };
  const timer = setInterval(beat, interval);
  const stop = (): void => ended.abort("stopping" satisfies EndReason);
  stopping.addEventListener("abort", stop);
  if (stopping.aborted) stop();
  return {
    signal: ended.signal,
    reason: () => (ended.signal.aborted ? ended.signal.reason : undefined),
    add(event, isProgress = false) {
      pending.push(event);
      hasProgress ||= isProgress;
    },
    async end() {
      clearInterval(timer);
      stopping.removeEventListener("abort", stop);
      await looking;
      if (pending.length > 0) await look();
    },
  };
}
