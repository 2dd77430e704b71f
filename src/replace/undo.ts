/** @module Goes back to the database before the last switch of a migration while it is held. */
import { type ApplyContext, driverOf, type StepResult } from "../apply/context.ts";
import { isAbsent, untilAtRest } from "../apply/operations/change.ts";
import { type Address, twinOf } from "../model/address.ts";
import { asError, GraphformError, shellWord } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import type { MigrationTerms } from "../model/migration.ts";
import type { Step } from "../model/plan.ts";
import type { Bound, Migration } from "../model/state.ts";
import type { Side } from "./data/nodes.ts";
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
    await assertStartable(twinOf(address, "former"), context);
    said = isLost
      ? `${bound.id} is gone, with all that it had got since the switch`
      : `${await close(at, context)}; ${bound.id} is kept, stopped, and ${again} goes to it again`;
    await switchOver(at, terms, "former", { phase: "switch" }, context);
  }
  report(step, "switch", "the database that has the address again is started", context);
  const started = await power("start", address, context);
  if (!isGiven && started.unsent === true)
    said += "; this one was running, and has what was written to it alone meanwhile";
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

/** Throws `nothing-to-undo` if the database of an address cannot be started. */
async function assertStartable(address: Address, context: ApplyContext): Promise<void> {
  const bound = context.journal.state.resources[address];
  const live = bound && (await driverOf(context, bound.kind).get(bound, context.stopping));
  const is = live?.phase.is ?? "it is deleted";
  if (is !== "stopped" && is !== "ready")
    throw new GraphformError("nothing-to-undo", `${address} cannot be started: ${is}`);
}

/** Brings the database in use to rest and stops it. Says what it has got since the switch; one that a person has stopped is not asked. */
async function close(step: Step, context: ApplyContext): Promise<string> {
  const { address, id = "" } = step;
  const mark = context.journal.state.migrations?.[address]?.mark;
  const notCounted = `what ${id} had got is not counted`;
  const side = await openUnlessStopped(step, context);
  if (side === undefined) return `${notCounted}: it was stopped`;
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

/**
 * Connects to a database; undefined if it is stopped. Right after a start the service may show the status from before: a stop is believed of a
 * database that does not answer, and is shown stopped `settle` later, too. Throws `not-asked`.
 */
async function openUnlessStopped(step: Step, context: ApplyContext): Promise<Side | undefined> {
  const { address, kind, id = "", place } = step;
  const { clock, profile, stopping } = context;
  for (let looks = 1; ; looks += 1) {
    const side = await openBound(address, context).catch(asError);
    if (!(side instanceof Error)) return side;
    stopping.throwIfAborted();
    const live = await driverOf(context, kind).get({ id, place }, stopping);
    if (live?.phase.is !== "stopped") {
      const hint = "stop it first: its writes since the switch stay in it";
      throw new GraphformError("not-asked", `${id} cannot be brought to rest: ${side.message}`, { hint });
    }
    if (looks > 1) return undefined;
    report(step, "fence", "it is shown stopped: looking once more", context);
    await clock.sleep(profile.timing.settle, stopping);
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
