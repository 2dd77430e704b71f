/** @module Goes back to the old database of a migration while it is held. */
import { type ApplyContext, driverOf, type StepResult } from "../apply/context.ts";
import { type Address, twinOf } from "../model/address.ts";
import { asError, GraphformError, shellWord } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import type { MigrationTerms } from "../model/migration.ts";
import type { Step } from "../model/plan.ts";
import type { Bound, Migration } from "../model/state.ts";
import { closeAtRest, power, reopen, switchOver, writeMark } from "./fence.ts";
import { outputsNaming, outputsOf } from "./outputs.ts";
import { isInterrupted, isSwitched } from "./phases.ts";
import { report, setPhase } from "./record.ts";
import { boundAt, openBound } from "./sides.ts";
import { bindingsAt } from "./switch.ts";

/**
 * Takes a migration back. Before the switch a database that a killed cutover left takes writes again; after the switch the new one is fenced
 * by the same rules, the address goes back, and then the old one is started. Says what the new one had got. A killed way back begins anew.
 */
export async function undo(step: Step, context: ApplyContext): Promise<StepResult> {
  const { address, place } = step;
  const bound = context.journal.state.resources[address];
  const migration = context.journal.state.migrations?.[address];
  if (bound === undefined || migration === undefined)
    throw new GraphformError("nothing-to-undo", `${address} has no migration`);
  const at = { ...step, id: bound.id, place: bound.place ?? place };
  if (isInterrupted(migration)) {
    const opened = await reopen(at, context);
    if (opened.result !== "done" || !isSwitched(migration)) return opened;
  }
  if (!isSwitched(migration))
    throw new GraphformError("nothing-to-undo", `the address ${address} was not switched yet`, {
      hint: "take the change back in the manifest: the next apply deletes the new database",
    });
  const former = twinOf(address, "former");
  const isBack = migration.phase === "switch";
  const kept = isBack ? undefined : context.journal.state.resources[former];
  const live = kept && (await driverOf(context, kept.kind).get(kept, context.stopping));
  // The database in use is closed only if the other one can be started.
  if (!isBack && live?.phase.is !== "stopped" && live?.phase.is !== "ready")
    throw new GraphformError(
      "nothing-to-undo",
      `${former} cannot be started: ${live?.phase.is ?? "it is deleted"}`,
    );
  const writes = isBack
    ? "an earlier run switched back, and its count is lost"
    : await closeNew(at, migration, context);
  const terms = { ...termsOf(bound, migration, context), ...defined({ outputs: step.migration?.outputs }) };
  if (!isBack) await switchOver(at, terms, "former", { phase: "switch" }, context);
  report(step, "switch", "back to the old database", context);
  const started = await power("start", address, context);
  const { migrations, resources } = context.journal.state;
  const now = bindingsAt([address, ...terms.inside], (each) => resources[each]);
  const outputs = await outputsNaming(await outputsOf(now, context), terms.outputs, context);
  await context.journal.record({ type: "outputs-recorded", outputs });
  const left = resources[former]?.id ?? "the other one";
  const message = `back on ${boundAt(address, context).id}; ${writes}, and ${left} keeps it, stopped, until ${migrations?.[address]?.heldUntil ?? ""}`;
  const again = `graphform replace undo ${shellWord(address)}`;
  if (started.result !== "done")
    return { ...started, message: `${message}; ${started.message ?? ""}`, hint: `${again} starts it` };
  await setPhase(address, "hold", { mark: await markOfStart(address, context) }, context);
  const hint = "declare in the manifest what this database has, or the next plan wants the change again";
  return { ...started, message: `${message}; once more, ${again} goes forward again to ${left}`, hint };
}

/** The mark of a database that was just started: its process has counted from 0. Undefined if it cannot be asked. */
async function markOfStart(address: Address, context: ApplyContext): Promise<Migration["mark"]> {
  const side = await openBound(address, context).catch(() => undefined);
  const mark = side && (await writeMark(side).catch(() => undefined));
  side?.close();
  return mark && { ...mark, writes: 0 };
}

/** Brings the new database to rest and stops it, and says what it has got since the switch. One that a person has stopped is not asked. */
async function closeNew(step: Step, { mark }: Migration, context: ApplyContext): Promise<string> {
  const { address, id = "", place } = step;
  const live = await driverOf(context, step.kind).get({ id, place }, context.stopping);
  if (live?.phase.is === "stopped") return "what the new one had got was not counted, since it was stopped";
  const side = await openBound(address, context).catch((error: unknown) => {
    const message = `the new database cannot be brought to rest: ${asError(error).message}`;
    const hint = "stop it first: its writes since the switch stay in it";
    throw new GraphformError("not-asked", message, { hint });
  });
  try {
    const now = await closeAtRest(step, side, context, () => writeMark(side));
    if (mark === undefined || mark.runId !== now.runId)
      return "what the new one had got was not counted, since it was started anew meanwhile or could not be asked";
    const count = now.writes - mark.writes;
    return count === 0
      ? "the new one had got no command that can write"
      : `the new one had got ${count} command${count === 1 ? "" : "s"} that can write since the switch, which the old one lacks`;
  } finally {
    side.close();
  }
}

/** The terms of the way back: the new database is held as long as the old one was to be, a day at least. With what was declared inside since. */
function termsOf({ id }: Bound, migration: Migration, { clock, journal }: ApplyContext): MigrationTerms {
  const left = Date.parse(migration.heldUntil ?? "") - clock.now();
  const all = Object.entries(journal.state.resources);
  const since = Object.fromEntries(all.filter(([, { place }]) => Object.values(place).includes(id)));
  const inside: readonly Address[] = Object.keys({ ...migration.former, ...since });
  return { cutover: true, inside, parameters: [], windows: [], hold: Math.max(24 * 3600_000, left) };
}
