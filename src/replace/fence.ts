/** @module Closes the old database for good before the new one gets its address. */
import { type ApplyContext, driverOf, type StepResult } from "../apply/context.ts";
import { notAtRest, unplannedStep, untilAtRest } from "../apply/operations/existing.ts";
import { operate } from "../apply/operations/operate.ts";
import { type Address, type Twin, twinKinds, twinOf } from "../model/address.ts";
import { asError, GraphformError, isGraphformError, isServiceError, shellWord } from "../model/errors.ts";
import type { MigrationTerms } from "../model/migration.ts";
import type { Live } from "../model/observed.ts";
import type { Step } from "../model/plan.ts";
import type { Migration } from "../model/state.ts";
import { type Freeze, pauseNode } from "./data/freeze.ts";
import type { Side } from "./data/nodes.ts";
import { markOf } from "./data/proof.ts";
import { letWrite, readCap, setCap } from "./data/quiesce.ts";
import { isSwitched, phaseBefore } from "./phases.ts";
import { setPhase } from "./record.ts";
import { boundAt, openBound } from "./sides.ts";
import { switchEvent } from "./switch.ts";

/** Longest time that a stop may take, in ms: the pause of writes holds that long even if this process ends. */
const stopWithin = 15 * 60_000;

/** Starts or stops the object of an address by the service, and waits for it. */
export function power(verb: "start" | "stop", address: Address, context: ApplyContext): Promise<StepResult> {
  const step = unplannedStep(address, boundAt(address, context), "operate", context.digest);
  return operate({ ...step, key: `${address}#${verb}`, verb }, context);
}

/**
 * Fences a frozen database: the pause is made long enough for a stop, its clients are cut off, and the service stops it. Resolves once it is
 * seen stopped. Rejects before anything was closed if the freeze is not proved or the service surely refused the stop; a stop that may have
 * been taken rejects with `fence-open`.
 */
export async function fence(step: Step, side: Side, freeze: Freeze, context: ApplyContext): Promise<void> {
  const { address } = step;
  const cap = await readCap(side);
  const open = (reason: string): GraphformError => openFence(step, reason, context);
  const pausedUntil = new Date(context.clock.now() + stopWithin).toISOString();
  // Recorded first: a run that is killed from here on leaves a pause that only a later run ends in time.
  await setPhase(address, "fence", { pausedUntil, cap }, context);
  try {
    // A longer pause extends the one in force, and shorter ones that renew it do not end it.
    for (const node of side.nodes) await pauseNode(node, stopWithin);
    // Another client that ends the pause while the database stops must find no way to write.
    await setCap(side, 1);
    const lost = await freeze.fence();
    if (lost !== undefined) throw new GraphformError(lost.code, lost.message, { hint: lost.remedy });
    const stopped = await power("stop", address, context).catch((error: unknown) => {
      throw isServiceError(error) && !error.mayHaveWorked ? error : open(asError(error).message);
    });
    if (stopped.result !== "done") throw open(stopped.message ?? stopped.result);
  } catch (error) {
    // If it cannot be put back now, the state remembers it.
    if (!isOpenFence(error))
      await setCap(side, cap).then(
        () => setPhase(address, "fence", { cap: undefined }, context),
        () => undefined,
      );
    throw error;
  }
  const lost = await freeze.prove();
  freeze.abandon();
  // Something may have been written while it stopped: it is never switched from.
  if (lost !== undefined) throw open(lost.message);
}

/** True for the failure of a fence whose database is stopped, or may be. */
export function isOpenFence(error: unknown): boolean {
  return isGraphformError(error) && error.code === "fence-open";
}

function openFence(
  { address, kind }: Step,
  reason: string,
  { journal, kinds }: Pick<ApplyContext, "journal" | "kinds">,
): GraphformError {
  const [at, { noun }] = [shellWord(address), kinds.named(kind)];
  const undo = `graphform replace undo ${at}`;
  const ways = isSwitched(journal.state.migrations?.[address] ?? {})
    ? `${undo} starts it again and closes it anew; graphform ${noun} start ${at} keeps it`
    : `apply, or ${undo}, starts it again, and the cutover waits`;
  const message = `the database of ${address} is closed, and its stop is not proved: ${reason}`;
  return new GraphformError("fence-open", message, { hint: `nothing was switched; ${ways}`, exitCode: 7 });
}

/** Gives the address to the new object, by one version of the state, and its outputs to what depends on it. */
export async function switchOver(
  { address }: Step,
  { inside, hold, hook }: MigrationTerms,
  from: Twin,
  more: Partial<Pick<Migration, "mark" | "phase">>,
  context: ApplyContext,
): Promise<StepResult> {
  const { journal, clock, outputs, kinds } = context;
  const now = clock.now();
  const { cap: _, pausedUntil: __, former: ___, ...known } = journal.state.migrations?.[address] ?? {};
  const migration: Migration = {
    ...known,
    phase: hook === undefined ? "hold" : "hook",
    since: new Date(now).toISOString(),
    heldUntil: new Date(now + hold).toISOString(),
    ...more,
  };
  const event = switchEvent({ address, inside, from, migration }, journal.state, kinds);
  // The stop is proved by now: outputs that cannot be read are no reason to give it up.
  const twin = twinOf(address, from);
  const shown = outputs.get(twin) ?? (await outputsOf(twin, context).catch(() => undefined));
  const old = outputs.get(address);
  await journal.record(event);
  if (shown === undefined) outputs.delete(address);
  else outputs.set(address, shown);
  if (old !== undefined) outputs.set(twinOf(address, "former"), old);
  if (from === "next") outputs.delete(twin);
  return { result: "done", id: boundAt(address, context).id };
}

async function outputsOf(address: Address, context: ApplyContext): Promise<Live["outputs"] | undefined> {
  const bound = boundAt(address, context);
  return (await driverOf(context, bound.kind).get(bound, context.stopping))?.outputs;
}

/** The stop of an earlier run is over: the state no longer waits for it. */
async function settleStop(address: Address, { journal }: ApplyContext): Promise<void> {
  if (journal.state.resources[address]?.converging !== undefined)
    await journal.record({ type: "operation-settled", address });
}

/**
 * Opens a database after a run that ended before the switch: it is started if it is stopped, and takes writes. No stop that is seen later is
 * trusted, since it may have been started and have taken writes before.
 */
export async function reopen(step: Step, context: ApplyContext): Promise<StepResult> {
  const { address, id = "", place } = step;
  const rest = await untilAtRest(step, { id, place }, context);
  if (rest.is !== "arrived" || rest.live === undefined) return notAtRest({ id, place }, rest);
  if (rest.live.phase.is === "stopped") {
    await settleStop(address, context);
    const started = await power("start", address, context);
    if (started.result !== "done") return started;
  }
  await letWriteAgain(address, context);
  const message = `${id} takes writes again and has lost nothing: an earlier run had closed it and not switched`;
  return { result: "done", id, message };
}

/** Puts back the cap of queries that a killed run left, ends its pause, and goes back to the phase before it; without a twin the migration is over. */
export async function letWriteAgain(address: Address, context: ApplyContext): Promise<void> {
  const migration = context.journal.state.migrations?.[address];
  const side = await openBound(address, context, context.stopping);
  await letWrite(side, migration?.cap).finally(side.close);
  const { resources } = context.journal.state;
  const isOver = twinKinds.every((twin) => resources[twinOf(address, twin)] === undefined);
  if (isOver) return context.journal.record({ type: "migration", address });
  await setPhase(address, phaseBefore(migration ?? {}), { cap: undefined, pausedUntil: undefined }, context);
}

/** The write commands that a database has executed until now. */
export async function writeMark({ primary }: Side): Promise<NonNullable<Migration["mark"]>> {
  const { runId, writes } = await markOf(primary);
  return { runId, writes };
}
