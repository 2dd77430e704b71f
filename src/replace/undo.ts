/** @module Goes back to the database before the last switch of a migration while it is held. */
import { type ApplyContext, driverOf, type StepResult } from "../apply/context.ts";
import { isAbsent, untilAtRest } from "../apply/operations/change.ts";
import { type Address, twinOf } from "../model/address.ts";
import { asError, GraphformError, shellWord } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import type { MigrationTerms } from "../model/migration.ts";
import type { Step } from "../model/plan.ts";
import type { Bound, Migration } from "../model/state.ts";
import { readGraphs } from "./data/read-graphs.ts";
import { Refused } from "./data/refusals.ts";
import { isInterrupted, isSwitched } from "./phases.ts";
import { report, setPhase } from "./record.ts";
import { closeAtRest, power, reopen, writeCountOf } from "./shutdown.ts";
import { boundAt, openBound } from "./sides.ts";
import { switchOver } from "./switch.ts";
import { bindingsAt, outputsNaming, outputsOf } from "./switched-outputs.ts";

/**
 * Takes a migration back. Before the switch a database that a killed cutover left takes writes again; after the switch the database in use is
 * shut down by the same rules, the address goes back, and then the other one is started. A killed way back begins anew.
 */
export async function undo(step: Step, context: ApplyContext): Promise<StepResult> {
  const { address, place } = step;
  const bound = context.journal.state.resources[address];
  const migration = context.journal.state.migrations?.[address];
  if (bound === undefined || migration === undefined)
    throw new GraphformError("nothing-to-undo", `${address} has no migration`);
  const at = { ...step, id: bound.id, place: bound.place ?? place };
  const isGiven = migration.phase === "switch";
  const isLost = isSwitched(migration) && !isGiven && (await isGone(at, bound, context));
  if (isInterrupted(migration) && !isLost) {
    const opened = await reopen(at, context);
    if (opened.result !== "done" || !isSwitched(migration)) return opened;
  }
  if (!isSwitched(migration))
    throw new GraphformError("nothing-to-undo", `the address ${address} was not switched yet`, {
      hint: "take the change back in the manifest: the next apply deletes the new database",
    });
  const terms = { ...termsOf(bound, migration, context), ...defined({ outputs: step.migration?.outputs }) };
  const again = `graphform replace undo ${shellWord(address)}`;
  let said = "an earlier run gave the address back, and what the other one had got is not counted";
  if (!isGiven) {
    // The database in use is closed only if the other one can be started.
    const own = await ownWrites(twinOf(address, "former"), context);
    said = isLost
      ? `${bound.id} is gone, with all that it had got since the switch${own}`
      : `${await close(at, context)}; ${bound.id} is kept, stopped, and ${again} goes to it again${own}`;
    await switchOver(at, terms, "former", { phase: "switch" }, context);
  }
  report(step, "switch", "the database that has the address again is started", context);
  const started = await power("start", address, context);
  const { resources } = context.journal.state;
  const now = bindingsAt([address, ...terms.inside], (each) => resources[each]);
  const outputs = await outputsNaming(await outputsOf(now, context), terms.outputs, context);
  await context.journal.record({ type: "outputs-recorded", outputs });
  const message = `back on ${boundAt(address, context).id}; ${said}`;
  if (started.result !== "done")
    return { ...started, message: `${message}; ${started.message ?? ""}`, hint: `${again} starts it` };
  const side = await openBound(address, context).catch(() => undefined);
  const mark = side && (await writeCountOf(side).catch(() => undefined));
  // Its process has counted from 0.
  await setPhase(address, "hold", { mark: mark && { ...mark, writes: 0 } }, context);
  // The engine may have damaged a graph by the start.
  const damage = side && (await readGraphs(side, context.stopping).catch((error: unknown) => error));
  side?.close();
  if (damage instanceof Refused)
    return {
      ...{ ...started, result: "failed", message: `${message}; ${damage.message}` },
      hint: `${again} goes to the other database, which is kept with its data; or ${damage.hint}`,
    };
  const hint = "unless the manifest declares what this database has, the next plan wants the change again";
  return { ...started, message, hint };
}

/** True if the database in use is proved absent, as for an apply. Throws `not-asked` if a list still has it: if it ran, both would take writes. */
async function isGone(step: Step, { kind, id, place }: Bound, context: ApplyContext): Promise<boolean> {
  if (!isAbsent(await untilAtRest(step, { id, place }, context))) return false;
  const listed = await driverOf(context, kind).list(place, context.stopping);
  if (!listed.includes(id)) return true;
  throw new GraphformError("not-asked", `the service lists ${id}, which may run, and does not describe it`);
}

/** Says that a database that should be stopped has run. Throws `nothing-to-undo` if it cannot be started. */
async function ownWrites(address: Address, context: ApplyContext): Promise<string> {
  const bound = context.journal.state.resources[address];
  const live = bound && (await driverOf(context, bound.kind).get(bound, context.stopping));
  const is = live?.phase.is ?? "it is deleted";
  if (is === "stopped") return "";
  if (is === "ready") return "; this one was running, and has what was written to it alone meanwhile";
  throw new GraphformError("nothing-to-undo", `${address} cannot be started: ${is}`);
}

/** Brings the database in use to rest and stops it. Says what it has got since the switch; one that a person has stopped is not asked. */
async function close(step: Step, context: ApplyContext): Promise<string> {
  const { address, id = "", place } = step;
  const mark = context.journal.state.migrations?.[address]?.mark;
  const notCounted = `what ${id} had got is not counted`;
  const live = await driverOf(context, step.kind).get({ id, place }, context.stopping);
  if (live?.phase.is === "stopped") return `${notCounted}: it was stopped`;
  const side = await openBound(address, context).catch((error: unknown) => {
    context.stopping.throwIfAborted();
    const message = `${id} cannot be brought to rest: ${asError(error).message}`;
    const hint = "stop it first: its writes since the switch stay in it";
    throw new GraphformError("not-asked", message, { hint });
  });
  try {
    const now = await closeAtRest(step, side, context, () => writeCountOf(side));
    if (mark === undefined || mark.runId !== now?.runId || now.writes < mark.writes)
      return `${notCounted}: it was started anew meanwhile, its counters were set back, or it could not be asked`;
    const count = now.writes - mark.writes;
    const commands = count === 0 ? "no command" : `${count} command${count === 1 ? "" : "s"}`;
    const libraries =
      mark.libraries === now.libraries ? "" : "; its libraries of functions may be others since";
    return `${id} had got ${commands} that can write since the switch${count === 0 ? "" : ", which this one lacks"}${libraries}`;
  } finally {
    side.close();
  }
}

/** The terms of the way back: the database that loses the address is kept for the rest of the time, a day at least, with what was added inside of it since. */
function termsOf({ id }: Bound, migration: Migration, { clock, journal }: ApplyContext): MigrationTerms {
  const left = Date.parse(migration.heldUntil ?? "") - clock.now();
  const all = Object.entries(journal.state.resources);
  const since = Object.fromEntries(all.filter(([, { place }]) => Object.values(place).includes(id)));
  const inside: readonly Address[] = Object.keys({ ...migration.former, ...since });
  return { cutover: true, inside, parameters: [], windows: [], hold: Math.max(24 * 3600_000, left) };
}
