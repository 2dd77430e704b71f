/** @module Goes back to the database before the last switch of a migration while it is held. */
import { type ApplyContext, driverOf, type StepResult } from "../apply/context.ts";
import { isAbsent, untilAtRest } from "../apply/operations/change.ts";
import { type Address, twinOf } from "../model/address.ts";
import { asError, GraphformError, shellWord } from "../model/errors.ts";
import { defined, stableJson } from "../model/json.ts";
import type { MigrationTerms } from "../model/migration.ts";
import type { Step } from "../model/plan.ts";
import { isSealed } from "../model/sealed.ts";
import type { Bound, Migration } from "../model/state.ts";
import { writeCountOf } from "./data/own-copy.ts";
import { readGraphs } from "./data/read-graphs.ts";
import { Refused } from "./data/refusals.ts";
import { isSwitched, phaseBefore } from "./phases.ts";
import { report, setPhase } from "./record.ts";
import { closeAtRest, isLeftClosed, power, reopen } from "./shutdown.ts";
import { boundAt, openBound } from "./sides.ts";
import { switchOver } from "./switch.ts";
import { bindingsAt, outputsNaming, outputsOf } from "./switched-outputs.ts";

/** Takes a migration back: a database that a run has closed before the switch takes writes again; after it the database in use is closed, the address goes back, and the other one is started. */
export async function undo(step: Step, context: ApplyContext): Promise<StepResult> {
  const { address, place } = step;
  const bound = context.journal.state.resources[address];
  const migration = context.journal.state.migrations?.[address];
  if (bound === undefined || migration === undefined)
    throw new GraphformError("nothing-to-undo", `${address} has no migration`);
  const at = { ...step, id: bound.id, place: bound.place ?? place };
  const isGiven = migration.phase === "switch";
  const isLost = isSwitched(migration) && !isGiven && (await isGone(at, bound, context));
  if (!isLost && (await isLeftClosed(at, context))) {
    const opened = await reopen(at, context);
    if (opened.result !== "done" || !isSwitched(migration)) return opened;
  }
  if (!isSwitched(migration))
    throw new GraphformError("nothing-to-undo", `the address ${address} was not switched yet`, {
      hint: "take the change back in the manifest: the next apply deletes the new database",
    });
  const terms = { ...termsOf(bound, migration, context), ...defined({ outputs: step.migration?.outputs }) };
  const said = isGiven
    ? "an earlier run gave the address back, and what the other one had got is not counted"
    : await giveBack(at, isLost, terms, context);
  report(step, "switch", "the database that has the address again is started", context);
  const started = await power("start", address, context);
  const wasRunning = !isGiven && started.unsent === true;
  const own = wasRunning ? "; this one was running, and has what was written to it alone meanwhile" : "";
  return takeUp(step, terms, started, said + own, context);
}

/** Closes the database in use, unless it is lost, and gives the address to the other one, if that can be started. Says what the database that is closed had got. */
async function giveBack(
  at: Step,
  isLost: boolean,
  terms: MigrationTerms,
  context: ApplyContext,
): Promise<string> {
  const { address, id } = at;
  const { migrations, resources } = context.journal.state;
  const known = migrations?.[address]?.hook;
  const hook = known && (known === "put-off" ? "due" : "put-off");
  const left = known === "begun" ? "may still be at work" : "has not ended with 0";
  const message = `the hook that followed the switch to ${id} ${left}: it may have pointed clients there, and is due again if ${id} gets the address again`;
  if (hook === "put-off") context.emit({ type: "warning", address, message });
  const former = resources[twinOf(address, "former")];
  const live = former && (await driverOf(context, former.kind).get(former, context.stopping));
  const is = live?.phase.is ?? "it is deleted";
  if (is !== "stopped" && is !== "ready")
    throw new GraphformError("nothing-to-undo", `${address}~former cannot be started: ${is}`);
  const said = isLost
    ? `${id} is gone, with all that it had got since the switch`
    : `${await close(at, context)}; ${id} is kept, stopped, and graphform replace undo ${shellWord(address)} goes to it again`;
  await switchOver(at, terms, "former", { phase: "switch", ...defined({ hook }) }, context);
  return said;
}

/** Records what the database that was started shows, and reads its graphs. Says what people have to know of it. */
async function takeUp(
  { address }: Step,
  terms: MigrationTerms,
  started: StepResult,
  said: string,
  context: ApplyContext,
): Promise<StepResult> {
  const again = `graphform replace undo ${shellWord(address)}`;
  const { migrations = {}, resources } = context.journal.state;
  const now = bindingsAt([address, ...terms.inside], (each) => resources[each]);
  const outputs = await outputsNaming(await outputsOf(now, context), terms.outputs, context);
  await context.journal.record({ type: "outputs-recorded", outputs });
  const migration: Partial<Migration> = migrations[address] ?? {};
  const phase = phaseBefore(migration);
  const held = (at: Address): Bound | undefined =>
    at === address ? resources[twinOf(at, "former")] : migration.former?.[at];
  const secrets = now.flatMap(([at, { recorded }]) => {
    const others = held(at)?.recorded ?? recorded;
    const isOther = (path: string): boolean =>
      stableJson(recorded[path] ?? null) !== stableJson(others[path] ?? null);
    const paths = Object.keys(recorded).filter((path) => isSealed(recorded[path]) && isOther(path));
    return paths.map((path) => `${path} of ${at}`);
  });
  const hook = phase === "hook" ? "; its hook has not ended with 0: the next apply runs it" : "";
  const changed = `; other secrets are in force than before: ${secrets.join(", ")}; the next apply sets those of the manifest`;
  const message = `back on ${boundAt(address, context).id}; ${said}${hook}${secrets.length > 0 ? changed : ""}`;
  if (started.result !== "done")
    return { ...started, message: `${message}; ${started.message ?? ""}`, hint: `${again} starts it` };
  const side = await openBound(address, context).catch(asError);
  const isOpen = !(side instanceof Error);
  const mark = isOpen ? await writeCountOf(side).catch(() => undefined) : undefined;
  // Its process has counted from 0.
  await setPhase(address, phase, { mark: mark && { ...mark, writes: 0 } }, context);
  // The engine may have damaged a graph by the start.
  const damage = isOpen ? await readGraphs(side, context.stopping).catch(asError) : side;
  if (isOpen) side.close();
  if (damage instanceof Refused)
    return {
      ...{ ...started, result: "failed", message: `${message}; ${damage.message}` },
      hint: `${again} goes to the other database, which is kept with its data; or ${damage.hint}`,
    };
  const hint = "unless the manifest declares what this database has, the next plan wants the change again";
  const unread = damage && `; its graphs were not read to the end: ${context.hide(damage.message)}`;
  return { ...started, message: message + (unread ?? ""), hint };
}

/** True if the database in use is proved absent, as for an apply. Throws `not-asked` if a list still has it: if it ran, both would take writes. */
async function isGone(step: Step, { kind, id, place }: Bound, context: ApplyContext): Promise<boolean> {
  if (!isAbsent(await untilAtRest(step, { id, place }, context))) return false;
  const listed = await driverOf(context, kind).list(place, context.stopping);
  if (!listed.includes(id)) return true;
  throw new GraphformError("not-asked", `the service lists ${id}, which may run, and does not describe it`);
}

/** Brings the database in use to rest and stops it. Says what it has got since the switch; one that a person has stopped is not asked. */
async function close(step: Step, context: ApplyContext): Promise<string> {
  const { address, id = "", place } = step;
  const mark = context.journal.state.migrations?.[address]?.mark;
  const notCounted = `what ${id} had got is not counted`;
  const isStopped = async (): Promise<boolean> =>
    (await driverOf(context, step.kind).get({ id, place }, context.stopping))?.phase.is === "stopped";
  let side = await openBound(address, context).catch(asError);
  // Right after a start the service may show the status from before: a stop is believed if it is shown `settle` later, too.
  if (side instanceof Error && (await isStopped())) {
    await context.clock.sleep(context.profile.timing.settle, context.stopping);
    side = await openBound(address, context).catch(asError);
    if (side instanceof Error && (await isStopped())) return `${notCounted}: it was stopped`;
  }
  if (side instanceof Error) {
    context.stopping.throwIfAborted();
    const hint = "stop it first: its writes since the switch stay in it";
    throw new GraphformError("not-asked", `${id} cannot be brought to rest: ${side.message}`, { hint });
  }
  const open = side;
  try {
    const now = await closeAtRest(step, open, context, () => writeCountOf(open));
    if (mark === undefined || mark.runId !== now?.runId || now.writes < mark.writes)
      return `${notCounted}: it was started anew meanwhile, its counters were set back, or it could not be asked`;
    const count = now.writes - mark.writes;
    const commands = count === 0 ? "no command" : `${count} command${count === 1 ? "" : "s"}`;
    const libraries =
      mark.libraries === now.libraries ? "" : "; its libraries of functions may be others since";
    return `${id} had got ${commands} that can write since the switch${count === 0 ? "" : ", which this one lacks"}${libraries}`;
  } finally {
    open.close();
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
