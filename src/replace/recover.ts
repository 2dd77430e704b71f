/** @module Repairs what a run left behind that ended in the middle of a cutover: its cap of queries, and its pause of writes. */
import { type ApplyContext, driverOf } from "../apply/context.ts";
import type { Address } from "../model/address.ts";
import { asError } from "../model/errors.ts";
import type { Bound, Migration, StateDocument } from "../model/state.ts";
import { unpause } from "./data/freeze.ts";
import { putCapBack } from "./data/quiesce.ts";
import { isInterrupted, phaseBefore } from "./phases.ts";
import { setPhase } from "./record.ts";
import { openBound } from "./sides.ts";

/** Migrations whose run ended while the database took no writes. A stop that the service has taken is left to an apply. */
function interrupted({
  migrations = {},
  resources,
}: Pick<StateDocument, "migrations" | "resources">): readonly (readonly [Address, Migration, Bound])[] {
  return Object.entries(migrations).flatMap(([address, migration]) => {
    const bound = resources[address];
    const isUnfenced = migration.phase === "fence" && bound?.converging === undefined;
    return bound !== undefined && (isUnfenced || isInterrupted(migration))
      ? [[address, migration, bound] as const]
      : [];
  });
}

/** True if a run ended in the middle of a cutover, and left a database that takes no writes, or not for a while. */
export function needsRepair(state: Pick<StateDocument, "migrations" | "resources">): boolean {
  return interrupted(state).length > 0;
}

/**
 * Puts the cap of queries back and ends the pause of every database whose cutover was interrupted while it runs. The caller holds the lock of the
 * state: no other run is in the middle of one. A database that does not answer is a warning, and stays to be repaired.
 */
export async function repairMigrations(context: ApplyContext): Promise<void> {
  for (const [address, migration, { kind, id, place }] of interrupted(context.journal.state)) {
    const { cap, phase } = migration;
    try {
      const live =
        phase === "fence"
          ? await driverOf(context, kind).get({ id, place }, context.stopping)
          : { phase: { is: "ready" } };
      if (live?.phase.is !== "ready") continue;
      const side = await openBound(address, context, context.stopping);
      const capped = cap === undefined ? Promise.resolve() : putCapBack(side, cap);
      await capped.then(() => unpause(side)).finally(side.close);
      const message = `an earlier run ended in the phase ${phase} of its migration: it takes writes again`;
      await setPhase(address, phaseBefore(migration), { cap: undefined, pausedUntil: undefined }, context);
      context.emit({ type: "warning", address, message });
    } catch (error) {
      context.stopping.throwIfAborted();
      const message = `an earlier run ended in the phase ${phase} of its migration, and it could not be made to take writes again: ${context.hide(asError(error).message)}`;
      context.emit({ type: "warning", address, message });
    }
  }
}
