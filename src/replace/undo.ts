/** @module Goes back to the old database of a migration while it is held. */
import { type ApplyContext, driverOf, type StepResult } from "../apply/context.ts";
import { type Address, twinOf } from "../model/address.ts";
import { asError, GraphformError, shellWord } from "../model/errors.ts";
import type { MigrationTerms } from "../model/migration.ts";
import type { Step } from "../model/plan.ts";
import type { Migration } from "../model/state.ts";
import { quiesce, readCap } from "./data/quiesce.ts";
import { isRefusal } from "./data/refusals.ts";
import { fence, isOpenFence, power, reopen, switchOver, writeMark } from "./fence.ts";
import { isSwitched } from "./phases.ts";
import { report, setPhase } from "./record.ts";
import { openBound } from "./sides.ts";

/**
 * Takes a migration back. Between fence and switch the old database is started again; after the switch the new one is fenced by the same
 * rules, the address goes back, and then the old one is started. Says what the new one had got.
 */
export async function undo(step: Step, context: ApplyContext): Promise<StepResult> {
  const { address, place } = step;
  const bound = context.journal.state.resources[address];
  const migration = context.journal.state.migrations?.[address];
  if (bound === undefined || migration === undefined)
    throw new GraphformError("nothing-to-undo", `${address} has no migration`);
  const at = { ...step, id: bound.id, place: bound.place ?? place };
  if (migration.phase === "fence" && migration.heldUntil === undefined) return reopen(at, context);
  if (!isSwitched(migration) && migration.phase !== "fence")
    throw new GraphformError("nothing-to-undo", `the address ${address} was not switched yet`, {
      hint: "take the change back in the manifest: the next apply deletes the new database",
    });
  const former = twinOf(address, "former");
  if (context.journal.state.resources[former] === undefined)
    throw new GraphformError("nothing-to-undo", `the old database of ${address} is deleted already`);
  const writes = await close(at, migration, context);
  await switchOver(at, termsOf(migration, context), "former", {}, context);
  report(step, "switch", "back to the old database", context);
  const started = await power("start", address, context);
  await setPhase(address, "hold", { mark: await markOfStart(started, address, context) }, context);
  const { heldUntil = "" } = context.journal.state.migrations?.[address] ?? {};
  const message = `back on ${context.journal.state.resources[address]?.id ?? "the old database"}; ${writes}, and ${bound.id} keeps it, stopped, until ${heldUntil}; once more, graphform replace undo ${shellWord(address)} goes forward again to ${bound.id}`;
  return {
    ...started,
    message: started.result === "done" ? message : `${message}; ${started.message ?? ""}`,
  };
}

/** The mark of a database that was just started: its process has counted from 0. Undefined if it cannot be asked. */
async function markOfStart(
  { result }: StepResult,
  address: Address,
  context: ApplyContext,
): Promise<Migration["mark"]> {
  if (result !== "done") return undefined;
  const side = await openBound(address, context, context.stopping).catch(() => undefined);
  const mark = side && (await writeMark(side).catch(() => undefined));
  side?.close();
  return mark && { ...mark, writes: 0 };
}

/** Brings the new database to rest and stops it, and says what it has got since the switch. One that is stopped already has no more to say. */
async function close(step: Step, migration: Migration, context: ApplyContext): Promise<string> {
  const { address, id = "", place } = step;
  const live = await driverOf(context, step.kind).get({ id, place }, context.stopping);
  if (live?.phase.is === "stopped") return "what the new one had got was not counted, since it was stopped";
  const side = await openBound(address, context, context.stopping).catch((error: unknown) => {
    const message = `the new database cannot be brought to rest: ${asError(error).message}`;
    const hint = "stop it first: its writes since the switch stay in it";
    throw new GraphformError("not-asked", message, { hint });
  });
  try {
    const cap = await readCap(side);
    // The state remembers it until the fence: a killed run leaves a pause, which the next one ends.
    await setPhase(address, "hold", { cap }, context);
    const freeze = await quiesce(side, { cap }, context.stopping);
    if (isRefusal(freeze)) {
      await setPhase(address, "hold", { cap: undefined }, context);
      throw new GraphformError(freeze.code, freeze.message, { hint: freeze.remedy });
    }
    try {
      const { mark } = migration;
      const now = await writeMark(side);
      await fence(step, side, freeze, context);
      if (mark === undefined || mark.runId !== now.runId)
        return "what the new one had got was not counted, since it was started anew meanwhile or could not be asked";
      const count = now.writes - mark.writes;
      return count === 0
        ? "the new one had got no command that can write"
        : `the new one had got ${count} command${count === 1 ? "" : "s"} that can write since the switch, which the old one lacks`;
    } catch (error) {
      await freeze.release();
      if (!isOpenFence(error)) await setPhase(address, "hold", { pausedUntil: undefined }, context);
      throw error;
    }
  } finally {
    side.close();
  }
}

/** The terms of the way back: the new database is held as long as the old one was to be. */
function termsOf(migration: Migration, { clock }: ApplyContext): MigrationTerms {
  const left = Date.parse(migration.heldUntil ?? "") - clock.now();
  const inside: readonly Address[] = Object.keys(migration.former ?? {});
  return { cutover: true, inside, parameters: [], windows: [], hold: Math.max(24 * 3600_000, left) };
}
