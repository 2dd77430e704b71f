/** @module Shuts a database down before its address is switched, and opens one again that a run left closed. */
import { type ApplyContext, driverOf, type StepResult, unplannedStep } from "../apply/context.ts";
import { notAtRest, untilAtRest } from "../apply/operations/change.ts";
import { operate } from "../apply/operations/operate.ts";
import { type Address, twinKinds, twinOf } from "../model/address.ts";
import { isSettleOver } from "../model/consistency.ts";
import { asError, GraphformError, isGraphformError, isServiceError, shellWord } from "../model/errors.ts";
import { isStoppingOrStarting } from "../model/migration.ts";
import type { Step } from "../model/plan.ts";
import type { Migration } from "../model/state.ts";
import { type Freeze, pauseNode } from "./data/freeze.ts";
import type { Side } from "./data/nodes.ts";
import { isOwnCopy, notOwnCopy } from "./data/own-copy.ts";
import { letWrite, quiesce, readCap, setCap } from "./data/quiesce.ts";
import { Refused } from "./data/refusals.ts";
import { isInterrupted, isSwitched, phaseBefore, toRepair } from "./phases.ts";
import { enterPhase, report, setPhase } from "./record.ts";
import { boundAt, openBound } from "./sides.ts";

/** Longest time that a stop may take, in ms: the pause of writes holds that long even if this process ends. */
const stopWithin = 15 * 60_000;

/** Starts or stops the object of an address by the service, and waits for it. That nothing is to do is believed if the service shows it `settle` later, too. */
export async function power(
  verb: "start" | "stop",
  address: Address,
  context: ApplyContext,
): Promise<StepResult> {
  const step = unplannedStep(address, boundAt(address, context), "operate", context.digest);
  const ask = (): Promise<StepResult> => operate({ ...step, key: `${address}#${verb}`, verb }, context);
  const asked = await ask();
  if (asked.unsent !== true) return asked;
  await context.clock.sleep(context.profile.timing.settle, context.stopping);
  return ask();
}

/**
 * Brings a database to rest, works while its writes wait, and closes it: resolves once it is seen stopped. On every failure before the service
 * has taken the stop it takes writes again, or the state remembers what the next run has to put back, and the migration goes back to the phase
 * before; a stop that may go on rejects with `fence-open`.
 */
export async function closeAtRest<T>(
  step: Step,
  side: Side,
  context: ApplyContext,
  work: (freeze: Freeze) => Promise<T>,
): Promise<T> {
  const { address, id = "" } = step;
  const known: Partial<Migration> = context.journal.state.migrations?.[address] ?? {};
  const { phase = "await-cutover" } = known;
  const back = isInterrupted({ ...known, phase }) ? phaseBefore(known) : phase;
  const cap = known.cap ?? (await readCap(side));
  await enterPhase(step, "quiesce", "waits until it has settled, then no new write begins", context, { cap });
  // Unless it is refused, the cap may still be in force: the state remembers it, and the next run or plan puts it back.
  const freeze = await quiesce(side, { cap }, context.stopping).catch(async (error: unknown) => {
    if (error instanceof Refused) await enterPhase(step, back, error.message, context, { cap: undefined });
    throw error;
  });
  let isShuttingDown = false;
  try {
    await enterPhase(step, "freeze", "writes wait", context, { cap: undefined });
    const found = await work(freeze);
    isShuttingDown = true;
    await shutDown(step, side, freeze, context);
    return found;
  } catch (error) {
    // It is stopped, or may be: the next run goes on, or back.
    if (isUnprovenStop(error)) {
      freeze.abandon();
      const { message, hint } = error;
      if (context.stopping.aborted)
        context.emit({ type: "warning", address, message: `${message}; ${hint}` });
      throw error;
    }
    const isReleased = await freeze.release();
    // A pause of the shutdown that could not be ended is ended by the next run: the state remembers it.
    if (isReleased || !isShuttingDown) await enterPhase(step, back, "", context, { pausedUntil: undefined });
    if (context.stopping.aborted) throw error;
    const paused = isReleased
      ? "takes writes as before"
      : "takes writes when its pause has ended, which could not be ended now";
    const now = side.primary.control.isOpen ? paused : "does not answer";
    const hint = (isGraphformError(error) ? error.hint : undefined) ?? "run it again";
    const message = `nothing was switched, and ${id} ${now}: ${context.hide(asError(error).message)}`;
    throw new GraphformError("given-up", message, { hint, cause: error });
  }
}

/** The phase `fence`: the pause is made long enough for a stop, the clients are cut off, and the service stops the database. */
async function shutDown(step: Step, side: Side, freeze: Freeze, context: ApplyContext): Promise<void> {
  const { address } = step;
  report(step, "fence", "closing the database", context);
  const cap = await readCap(side);
  const open = (reason: string): GraphformError => unprovenStop(step, reason, context);
  const pausedUntil = new Date(context.clock.now() + stopWithin).toISOString();
  // Recorded first: a run that is killed from here on leaves a pause that only a later run ends in time.
  await setPhase(address, "fence", { pausedUntil, cap }, context);
  try {
    // Another client that ends the pause while the database stops must find no way to write.
    await setCap(side, 1);
    let lost = await freeze.prove();
    // A longer pause extends the one in force, and shorter ones that renew it do not end it.
    if (lost === undefined) for (const node of side.nodes) await pauseNode(node, stopWithin);
    lost ??= await freeze.endConnections();
    if (lost !== undefined) throw lost;
    await stop(address, open, context);
  } catch (error) {
    // If it cannot be put back now, the state remembers it.
    if (!isUnprovenStop(error))
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
  if (side.nodes.some(({ control }) => control.isOpen))
    throw open("the service shows it stopped, and it still answers");
}

/** Stops a database while its writes wait: a refusal is said at once, and the request is not sent again. A stop that may go on throws what `open` makes. */
async function stop(
  address: Address,
  open: (reason: string) => GraphformError,
  context: ApplyContext,
): Promise<void> {
  const { kind } = boundAt(address, context);
  const driver = driverOf(context, kind);
  let mayStop = false;
  const refused = (reason: string): GraphformError =>
    mayStop ? open(reason) : new GraphformError("not-stopped", `it was not stopped: ${reason}`);
  const operate: typeof driver.operate = async (...given) => {
    const wasSent = mayStop;
    mayStop = true;
    await driver.operate(...given).catch((error: unknown) => {
      mayStop = wasSent || !isServiceError(error) || error.mayHaveWorked;
      throw mayStop ? error : refused(asError(error).message);
    });
  };
  const drivers = new Map(context.drivers).set(kind, { ...driver, operate });
  const { result, message = result } = await power("stop", address, { ...context, drivers }).catch(
    (error: unknown) => {
      throw mayStop ? open(asError(error).message) : error;
    },
  );
  if (result !== "done") throw refused(message);
}

/** True for the failure of a shutdown whose database is stopped, or may be. */
function isUnprovenStop(error: unknown): error is GraphformError {
  return isGraphformError(error) && error.code === "fence-open";
}

function unprovenStop(
  { address, kind }: Step,
  reason: string,
  { journal, kinds }: ApplyContext,
): GraphformError {
  const [at, { noun }] = [shellWord(address), kinds.named(kind)];
  const undo = `graphform replace undo ${at}`;
  const ways = isSwitched(journal.state.migrations?.[address] ?? {})
    ? `${undo} starts it again and closes it anew; graphform ${noun} start ${at} keeps it`
    : `apply, or ${undo}, starts it again, and the cutover waits`;
  const message = `the database of ${address} is closed, and its stop is not proved: ${reason}`;
  return new GraphformError("fence-open", message, { hint: `nothing was switched; ${ways}`, exitCode: 7 });
}

/** True if a run before the switch may have left the database closed: it was interrupted, or its stop was carried out later. */
export async function isLeftClosed(
  { address, kind, id = "", place }: Step,
  context: ApplyContext,
): Promise<boolean> {
  const known = context.journal.state.migrations?.[address];
  if (known === undefined || isSwitched(known) || isInterrupted(known)) return isInterrupted(known);
  const live = await driverOf(context, kind).get({ id, place }, context.stopping);
  return live?.phase.is === "stopped";
}

/** Throws `not-a-copy` if the new database may be in use: the state may be older than the switch, and with the old one two would take writes. */
async function assertNotInUse(address: Address, context: ApplyContext): Promise<void> {
  const { migrations, resources } = context.journal.state;
  const next = resources[twinOf(address, "next")];
  const live = next && (await driverOf(context, next.kind).get(next, context.stopping));
  if (live?.phase.is !== "ready" && live?.phase.is !== "pending") return;
  const side = await openBound(twinOf(address, "next"), context);
  const isOurs = await isOwnCopy(side, migrations?.[address]?.mark).finally(side.close);
  if (!isOurs) throw notOwnCopy(live.id, boundAt(address, context).id);
}

/** Opens a database after a run that ended before the switch. A stop that is seen later is not trusted: it may have been started and have taken writes before. */
export async function reopen(step: Step, context: ApplyContext): Promise<StepResult> {
  const { address, id = "", place } = step;
  const rest = await untilAtRest(step, { id, place }, context, "first-look");
  if (rest.is !== "arrived" || rest.live === undefined) return notAtRest({ id, place }, rest);
  if (rest.live.phase.is === "stopped") {
    await assertNotInUse(address, context);
    // The stop of an earlier run is over: the state no longer waits for it.
    if (context.journal.state.resources[address]?.converging !== undefined)
      await context.journal.record({ type: "operation-settled", address });
    const started = await power("start", address, context);
    if (started.result !== "done") return started;
  }
  await letWriteAgain(address, context);
  return { result: "done", id, message: `${id} takes writes again: an earlier run ended before the switch` };
}

/** Puts back the cap of queries that a killed run left, ends its pause, and goes back to the phase before it; without a twin the migration is over. */
async function letWriteAgain(address: Address, context: ApplyContext): Promise<void> {
  const migration = context.journal.state.migrations?.[address];
  const side = await openBound(address, context);
  await letWrite(side, migration?.cap).finally(side.close);
  const { resources } = context.journal.state;
  const isOver = twinKinds.every((twin) => resources[twinOf(address, twin)] === undefined);
  if (isOver) return context.journal.record({ type: "migration", address });
  await setPhase(address, phaseBefore(migration ?? {}), { cap: undefined, pausedUntil: undefined }, context);
}

/**
 * Puts the cap of queries back and ends the pause of every database whose cutover was interrupted while it runs, also if a stop was taken and not
 * carried out. The caller holds the lock of the state. A database that does not answer is a warning, and stays to be repaired.
 */
export async function repairMigrations(context: ApplyContext): Promise<void> {
  const { clock, journal, profile } = context;
  for (const [address, migration, { kind, id, place, converging }] of toRepair(journal.state)) {
    const begun = `an earlier run ended in the phase ${migration.phase} of its migration`;
    const warn = (end: string): void => context.emit({ type: "warning", address, message: begun + end });
    try {
      const live = isStoppingOrStarting(migration)
        ? await driverOf(context, kind).get({ id, place }, context.stopping)
        : { phase: { is: "ready" } };
      // A stop that failed has stopped nothing; a start may have.
      const isStopFailed = live?.phase.is === "failed" && migration.phase === "fence";
      if (live?.phase.is !== "ready" && !isStopFailed) continue;
      if (converging?.operation === "stop") {
        if (!isSettleOver(Date.parse(converging.since), clock.now(), profile.timing)) continue;
        // It was taken and is not carried out: nothing waits for it any more.
        await journal.record({ type: "operation-failed", address });
      }
      await letWriteAgain(address, context);
      warn(": it takes writes again");
    } catch (error) {
      context.stopping.throwIfAborted();
      warn(`, and it could not be made to take writes again: ${context.hide(asError(error).message)}`);
    }
  }
}
