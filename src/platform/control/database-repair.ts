/** @module Restarts databases that should run and do not, until they run again. */
import { inTurn } from "../in-turn.ts";
import type { FailureRecord, InstanceRecord } from "../model/records.ts";
import { type RecordStateParts, recordState, recordStateOrFailure } from "./record-state.ts";

/** The repair of databases. */
export interface DatabaseRepair {
  /**
   * Starts to repair an instance, unless a repair is under way. Resolves after the first attempt; further attempts run in the
   * background. `isQuiet` shows no status before the first attempt has failed.
   */
  repair(id: string, options?: { readonly reason?: string; readonly isQuiet?: boolean }): Promise<void>;
}

export interface RepairParts extends RecordStateParts {
  /** Runs a task that the platform waits for when it closes. */
  readonly background: (id: string, task: Promise<void>) => void;
  readonly closing: AbortSignal;
}

/** Attempts after which the instance is shown as failed; further attempts follow. */
const attemptsUntilFailed = 5;

/** Pauses between attempts, in ms. */
const [shortest, longest] = [100, 30_000];

export function createDatabaseRepair(parts: RepairParts): DatabaseRepair {
  const { store, events, closing } = parts;
  const repairing = new Set<string>();

  /** Starts the database and records that it runs. */
  const startAgain = async (id: string, record: InstanceRecord): Promise<undefined> => {
    const found = await parts.databases().start(record);
    const isOver = record.status === "FAILED" || record.failure?.of === "database";
    const failure = isOver ? undefined : record.failure;
    await recordState(parts, id, { ...found, status: "RUNNING", failure }, hasOperation);
    events.add(id, "database serves again");
    return undefined;
  };

  const showRestarting = async (id: string, record: InstanceRecord): Promise<void> => {
    if (record.status === "RUNNING" && record.nodes.length > 0)
      await recordState(parts, id, { ...parts.databases().seen(id), status: "RESTARTING" }, hasOperation);
  };

  /** True where the database runs, or is no longer to be repaired. */
  const attempt = (id: string, count: number, isQuiet = false): Promise<boolean> =>
    inTurn(`instance ${id}`, async () => {
      const record = closing.aborted ? undefined : repairable(store.instances.get(id));
      if (record === undefined) return true;
      if (record.status === "RUNNING" && (await parts.databases().isUp(record))) return true;
      if (count === 0 && !isQuiet) await showRestarting(id, record);
      const failure = await startAgain(id, record).catch(reasonOf);
      if (failure === undefined || closing.aborted) return true;
      if (count === 0 && isQuiet) await showRestarting(id, record);
      if (count + 1 === attemptsUntilFailed) await reportFailure(parts, id, failure);
      return false;
    });

  const keepTrying = async (id: string): Promise<void> => {
    try {
      for (let count = 1; ; count += 1) {
        await parts.wait(Math.min(shortest * 2 ** (count - 1), longest));
        const isDone = await attempt(id, count).catch((error: unknown) => {
          events.add(id, `the platform failed: ${reasonOf(error)}`, true);
          return closing.aborted;
        });
        if (isDone) return;
      }
    } finally {
      repairing.delete(id);
    }
  };

  return {
    async repair(id, { reason, isQuiet } = {}) {
      if (repairing.has(id) || closing.aborted) return;
      repairing.add(id);
      if (reason !== undefined) events.add(id, reason, true);
      let isDone = true;
      try {
        isDone = await attempt(id, 0, isQuiet);
      } finally {
        if (isDone) repairing.delete(id);
        else parts.background(id, keepTrying(id));
      }
    },
  };
}

/** Records that a database is not complete: RUNNING where its primary serves, FAILED otherwise. */
async function reportFailure(parts: RepairParts, id: string, reason: string): Promise<void> {
  const databases = parts.databases();
  const failure: FailureRecord = { at: parts.timestamp(), reason, of: "database" };
  const status = databases.serves(id) ? "RUNNING" : "FAILED";
  parts.events.add(id, `the database cannot be brought back yet: ${reason}`, true);
  await recordStateOrFailure(parts, id, status, { ...databases.seen(id), failure }, hasOperation);
}

/** The record, where its database should run and no operation works on it. */
function repairable(record: InstanceRecord | undefined): InstanceRecord | undefined {
  const isRepairable =
    record !== undefined &&
    !record.isAccount &&
    record.power === "running" &&
    record.operation === undefined &&
    record.failure?.byFault !== true;
  return isRepairable ? record : undefined;
}

/** True where an operation was accepted in the meantime: the operation records the status then. */
function hasOperation(record: InstanceRecord): boolean {
  return record.operation !== undefined;
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
