/** @module Repairs what a run left behind that ended in the middle of a cutover: its cap of queries, and its pause of writes. */
import type { ApplyContext } from "../apply/context.ts";
import { asError } from "../model/errors.ts";
import type { StateDocument } from "../model/state.ts";
import { unpause } from "./data/freeze.ts";
import { putCapBack } from "./data/quiesce.ts";
import { isInterrupted, phaseBefore } from "./phases.ts";
import { setPhase } from "./record.ts";
import { openBound } from "./sides.ts";

/** True if a run ended in the middle of a cutover, and left a database that takes no writes, or not for a while. */
export function needsRepair({ migrations = {} }: Pick<StateDocument, "migrations">): boolean {
  return Object.values(migrations).some(isInterrupted);
}

/**
 * Puts the cap of queries back and ends the pause of every database whose cutover was interrupted before its fence. The caller holds the lock of the
 * state: no other run is in the middle of one. A database that does not answer is a warning, and stays to be repaired.
 */
export async function repairMigrations(context: ApplyContext): Promise<void> {
  const open = Object.entries(context.journal.state.migrations ?? {}).filter(([, each]) =>
    isInterrupted(each),
  );
  for (const [address, { cap, phase }] of open) {
    try {
      const side = await openBound(address, context, context.stopping);
      try {
        if (cap !== undefined) await putCapBack(side, cap);
        await unpause(side);
      } finally {
        side.close();
      }
      const message = `an earlier run ended in the phase ${phase} of its migration: it takes writes again`;
      await setPhase(address, phaseBefore({ phase }), { cap: undefined }, context);
      context.emit({ type: "warning", address, message });
    } catch (error) {
      context.stopping.throwIfAborted();
      const message = `an earlier run ended in the phase ${phase} of its migration, and it could not be made to take writes again: ${context.hide(asError(error).message)}`;
      context.emit({ type: "warning", address, message });
    }
  }
}
