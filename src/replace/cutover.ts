/** @module Cuts over: brings the old database to rest, copies, proves, closes it, and switches the address. */
import { type ApplyContext, type StepResult, unplannedStep } from "../apply/context.ts";
import { backup } from "../apply/operations/operate.ts";
import { type Address, twinOf } from "../model/address.ts";
import { asError, GraphformError } from "../model/errors.ts";
import type { MigrationPhase, MigrationTerms } from "../model/migration.ts";
import type { Step } from "../model/plan.ts";
import { compareData } from "./data/compare-data.ts";
import { copy } from "./data/copy.ts";
import { makeDurable } from "./data/durable.ts";
import type { Freeze } from "./data/freeze.ts";
import { takeInventory } from "./data/inventory.ts";
import type { Side } from "./data/nodes.ts";
import { deleteCopyKey, writeCountOf } from "./data/own-copy.ts";
import { refusalsOf, type TargetFacts } from "./data/preflight.ts";
import { megabytes, type OnProgress } from "./data/progress.ts";
import { Refused } from "./data/refusals.ts";
import { enterPhase, report, setPhase } from "./record.ts";
import { closeAtRest } from "./shutdown.ts";
import { boundAt } from "./sides.ts";
import { switchOver } from "./switch.ts";

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

/** Runs the phases from quiesce to switch. Until the fence every failure leaves the old database as it was and writable. */
export async function runCutover(work: Cutover, context: ApplyContext): Promise<StepResult> {
  const { step, terms, source, budget } = work;
  await closeAtRest(step, source, context, async (freeze) => {
    const limit = AbortSignal.timeout(budget);
    const end = performance.now() + budget;
    const signal = AbortSignal.any([context.stopping, freeze.lost, limit]);
    await move({ ...work, end }, freeze, signal, context).catch(async (error: unknown) => {
      // A broken connection alone is not a reason.
      if (!limit.aborted)
        throw freeze.lost.aborted && !(error instanceof Refused) ? freeze.lost.reason : error;
      const message = `the data was not moved within ${budget / 1000} s, the longest read-only time`;
      // There may be more data by now.
      await setPhase(step.address, "freeze", { rehearsed: undefined }, context);
      const hint = "run it again: the next --cutover rehearses anew";
      throw new GraphformError("too-slow", message, { cause: error, hint });
    });
  });
  report(step, "switch", "", context);
  return switchOver(step, terms, "next", {}, context).catch((error: unknown) => {
    const message = `${step.id} is stopped: unless the switch was stored, the next apply, or graphform replace undo, starts it again`;
    context.emit({ type: "warning", address: step.address, message });
    throw error;
  });
}

/** Copies, compares and makes durable while the freeze holds. Rejects with the reason if that failed. */
async function move(
  { step, terms, facts, expectedBytes, source, target, end }: Cutover & { readonly end: number },
  freeze: Freeze,
  signal: AbortSignal,
  context: ApplyContext,
): Promise<void> {
  const enter = (phase: MigrationPhase, detail: string) => enterPhase(step, phase, detail, context);
  const { parameters: keepParameters } = terms;
  // The schema may have changed since the last look.
  const inventory = await takeInventory(source, signal);
  const [reason] = refusalsOf(inventory, facts);
  if (reason !== undefined) throw reason;
  await enter("copy", "");
  const options = { inventory, keepParameters, expectedBytes, onProgress: progressOf(step, "copy", context) };
  const copied = await copy(source, target, options, signal);
  await enter("verify", `keys: ${copied.keys}, ${megabytes(copied.bytes)}`);
  const comparing = { inventory, keepParameters, onProgress: progressOf(step, "verify", context) };
  const differences = await compareData(source, target, comparing, signal);
  if (differences.length > 0)
    throw new GraphformError("copy-differs", `the copy differs: ${differences.join("; ")}`, {
      hint: "both databases are kept for a look; run it again for another copy",
    });
  const mark = await writeCountOf(target);
  // A run that comes back knows the copy by the key, or by this number: the deletion of the key is one more write.
  await enterPhase(step, "durable", "", context, { mark: mark && { ...mark, writes: mark.writes + 1 } });
  signal.throwIfAborted();
  const within = Math.min(60_000, Math.max(1, Math.ceil(end - performance.now())));
  await makeDurable(target, deleteCopyKey, within);
  const next = twinOf(step.address, "next");
  const unsaved = facts.isOnDisk ? undefined : await backUp(next, { ...context, stopping: signal });
  if (unsaved !== undefined) throw new Refused("unsaved", unsaved.message ?? "");
  const lost = await freeze.prove();
  if (lost !== undefined) throw lost;
  signal.throwIfAborted();
}

/** Backs a database without an append-only file up, since nothing else keeps it in a crash. Undefined if that is done. */
export async function backUp(address: Address, context: ApplyContext): Promise<StepResult | undefined> {
  const bound = boundAt(address, context);
  const operations = context.kinds.named(bound.kind).operations.backup ?? [];
  const isOffered = operations.length > 0 && operations.every((name) => context.profile.operations[name]);
  const failed = (message: string): StepResult => ({ result: "failed", message });
  const step = unplannedStep(address, bound, "backup", context.digest);
  const made = isOffered
    ? await backup(step, context).catch((error: unknown) => failed(asError(error).message))
    : failed("the service offers none");
  const why = `${bound.id} has no append-only file and no backup: ${made.message ?? made.result}`;
  const { message, hint } = new Refused("unsaved", why);
  return made.result === "done" ? undefined : { ...made, message, hint };
}

function progressOf(step: Step, phase: "copy" | "verify", context: ApplyContext): OnProgress {
  let last = context.clock.now();
  return ({ keys, amount, left }) => {
    const now = context.clock.now();
    if (now - last < 1000) return;
    last = now;
    const rest = left === undefined ? "" : `, about ${Math.ceil(left / 1000)} s left`;
    const done = phase === "copy" ? megabytes(amount) : `${amount} rows`;
    report(step, phase, `${keys.done} of ${keys.of} keys, ${done}${rest}`, context);
  };
}
