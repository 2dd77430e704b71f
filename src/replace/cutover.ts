/** @module Cuts over: brings the old database to rest, copies, proves, closes it, and switches the address. */
import { type ApplyContext, driverOf, type StepResult } from "../apply/context.ts";
import { backup } from "../apply/operations/backup.ts";
import { unplannedStep } from "../apply/operations/existing.ts";
import { twinOf } from "../model/address.ts";
import { asError, GraphformError, isGraphformError, isServiceError, ServiceError } from "../model/errors.ts";
import type { MigrationPhase, MigrationTerms } from "../model/migration.ts";
import type { Step } from "../model/plan.ts";
import { copy, emptyTarget } from "./data/copy.ts";
import { makeDurable } from "./data/durable.ts";
import type { Freeze } from "./data/freeze.ts";
import { takeInventory } from "./data/inventory.ts";
import type { Side } from "./data/nodes.ts";
import { refusalsOf, type TargetFacts } from "./data/preflight.ts";
import type { OnProgress } from "./data/progress.ts";
import { quiesce, readCap } from "./data/quiesce.ts";
import { isRefusal, type Reason } from "./data/refusals.ts";
import { verify } from "./data/verify.ts";
import { fence, isOpenFence, switchOver, writeMark } from "./fence.ts";
import { enterPhase, report } from "./record.ts";
import { boundAt } from "./sides.ts";

/** Everything that one cutover works with. */
export interface Cutover {
  readonly step: Step;
  readonly terms: MigrationTerms;
  /** Facts about the new database. */
  readonly facts: TargetFacts;
  /** Bytes of all values, as the rehearsal measured them. */
  readonly expectedBytes: number;
  readonly source: Side;
  readonly target: Side;
  /** Longest read-only time in ms before the fence. */
  readonly budget: number;
}

/** Shortest budget in ms: a small database is not given up for one slow answer. */
const leastBudget = 10_000;

/** Runs the phases from quiesce to switch. Until the fence every failure leaves the old database as it was and writable. */
export async function cutOver(work: Cutover, context: ApplyContext): Promise<StepResult> {
  const { step, terms, source, target } = work;
  const cap = context.journal.state.migrations?.[step.address]?.cap ?? (await readCap(source));
  await enterPhase(step, "quiesce", "no new write begins", context, { cap });
  // If it rejects, the cap may still be in force: the state remembers it, and the next run or plan puts it back.
  const freeze = await quiesce(source, { cap }, context.stopping);
  if (isRefusal(freeze)) {
    await enterPhase(step, "await-cutover", freeze.message, context, { cap: undefined });
    return givenUp(step, freeze, source);
  }
  const longest = Math.max(leastBudget, work.budget);
  const [limit, end] = [AbortSignal.timeout(longest), performance.now() + longest];
  let isClosed = false;
  try {
    await enterPhase(step, "freeze", "writes wait", context, { cap: undefined });
    const signal = AbortSignal.any([context.stopping, freeze.lost, limit]);
    const refusal = await moved({ ...work, end }, freeze, signal, context);
    if (refusal !== undefined) {
      await freeze.release();
      await enterPhase(step, "await-cutover", refusal.message, context);
      return givenUp(step, refusal, source);
    }
    const mark = await writeMark(target);
    report(step, "fence", "closing the old database", context);
    await fence(step, source, freeze, context);
    isClosed = true;
    report(step, "switch", "", context);
    return await switchOver(step, terms, "next", { mark }, context);
  } catch (error) {
    // The old one is stopped, or may be: the next run goes on, or back.
    if (isClosed || isOpenFence(error)) {
      freeze.abandon();
      throw error;
    }
    await freeze.release();
    await enterPhase(step, "await-cutover", "", context, { pausedUntil: undefined });
    if (context.stopping.aborted) throw error;
    const cause = freeze.lost.aborted ? freeze.lost.reason : error;
    const message = limit.aborted
      ? `the data was not moved within ${longest / 1000} s, the longest read-only time`
      : context.hide(asError(cause).message);
    const hint = isGraphformError(error) ? error.hint : undefined;
    return givenUp(step, { message, remedy: hint ?? "run it again" }, source);
  }
}

function givenUp({ id = "" }: Step, { message, remedy }: Reason, { primary }: Side): StepResult {
  const now = primary.control.isOpen ? "takes writes as before" : "does not answer";
  const text = `nothing was switched, and ${id} ${now}: ${message}`;
  return { result: "failed", id, message: text, hint: remedy };
}

/** Copies, compares and makes durable while the freeze holds. Returns the reason if that failed. */
async function moved(
  { step, terms, facts, expectedBytes, source, target, end }: Cutover & { readonly end: number },
  freeze: Freeze,
  signal: AbortSignal,
  context: ApplyContext,
): Promise<Reason | undefined> {
  const enter = (phase: MigrationPhase, detail: string): Promise<void> =>
    enterPhase(step, phase, detail, context);
  const keepParameters = terms.parameters;
  // The schema may have changed since the last look.
  const inventory = await takeInventory(source, signal);
  const [reason] = refusalsOf(inventory, facts);
  if (reason !== undefined) return reason;
  await enter("copy", "");
  await emptyTarget(source, target);
  const options = { inventory, keepParameters, expectedBytes, onProgress: progressOf(step, "copy", context) };
  const copied = await copy(source, target, options, signal);
  if (isRefusal(copied)) return copied;
  await enter("verify", `${copied.keys} keys, ${megabytes(copied.bytes)}`);
  const comparing = { inventory, keepParameters, onProgress: progressOf(step, "verify", context) };
  const { differences } = await verify(source, target, comparing, signal);
  if (differences.length > 0) {
    const message = `the copy differs: ${differences.join("; ")}`;
    return { message, remedy: "both databases are kept for a look; run it again for another copy" };
  }
  await enter("durable", "");
  signal.throwIfAborted();
  const within = Math.min(60_000, Math.max(1, Math.ceil(end - performance.now())));
  const durable = await makeDurable(target, within);
  if (isRefusal(durable)) return durable;
  if (!durable.isOnDisk) await backUp(step, { ...context, stopping: signal });
  const lost = await freeze.prove();
  if (lost === undefined) signal.throwIfAborted();
  return lost;
}

/** A database without an append-only file keeps a copy only by a backup. */
async function backUp(step: Step, context: ApplyContext): Promise<void> {
  const next = twinOf(step.address, "next");
  const operations = context.kinds.named(step.kind).operations.backup ?? [];
  const isOffered = operations.length > 0 && operations.every((name) => context.profile.operations[name]);
  const { digest, emit } = context;
  try {
    if (!isOffered || driverOf(context, step.kind).backup === undefined)
      throw new ServiceError("invalid", "backup", "the service offers none");
    const end = await backup(unplannedStep(next, boundAt(next, context), "backup", digest), context);
    if (end.result !== "done") throw new GraphformError("not-durable", end.message ?? "no backup was made");
  } catch (error) {
    if (!isServiceError(error) || error.mayHaveWorked) throw error;
    const message = `the new database keeps no append-only file, and cannot be backed up (${error.message}): a crash loses what its last save lacks`;
    emit({ type: "warning", address: step.address, message });
  }
}

function progressOf(step: Step, phase: "copy" | "verify", context: ApplyContext): OnProgress {
  let last = 0;
  return ({ keys, amount, left }) => {
    const now = context.clock.now();
    if (now - last < 1000) return;
    last = now;
    const rest = left === undefined ? "" : `, about ${Math.ceil(left / 1000)} s left`;
    const done = phase === "copy" ? megabytes(amount.done) : `${amount.done} rows`;
    report(step, phase, `${keys.done} of ${keys.of} keys, ${done}${rest}`, context);
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}
