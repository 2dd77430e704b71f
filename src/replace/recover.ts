/** @module Repairs what a run left behind that ended in the middle of a cutover: its cap of queries, and its pause of writes. */
import { type ApplyContext, driverOf } from "../apply/context.ts";
import { asError } from "../model/errors.ts";
import { isInPower } from "../model/migration.ts";
import { letWriteAgain } from "./fence.ts";
import { interrupted } from "./phases.ts";

/**
 * Puts the cap of queries back and ends the pause of every database whose cutover was interrupted while it runs. The caller holds the lock of the
 * state: no other run is in the middle of one. A database that does not answer is a warning, and stays to be repaired.
 */
export async function repairMigrations(context: ApplyContext): Promise<void> {
  for (const [address, migration, { kind, id, place }] of interrupted(context.journal.state)) {
    const { phase } = migration;
    try {
      const live = isInPower(migration)
        ? await driverOf(context, kind).get({ id, place }, context.stopping)
        : { phase: { is: "ready" } };
      if (live?.phase.is !== "ready") continue;
      await letWriteAgain(address, context);
      const message = `an earlier run ended in the phase ${phase} of its migration: it takes writes again`;
      context.emit({ type: "warning", address, message });
    } catch (error) {
      context.stopping.throwIfAborted();
      const message = `an earlier run ended in the phase ${phase} of its migration, and it could not be made to take writes again: ${context.hide(asError(error).message)}`;
      context.emit({ type: "warning", address, message });
    }
  }
}
