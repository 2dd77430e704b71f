import { inTurn } from "../in-turn.ts";
import type { FailureRecord, InstanceRecord } from "../model/records.ts";
import { type RecordStateParts, recordState, recordStateOrFailure } from "./record-state.ts";

/** Brings back databases that should run and do not, for as long as it takes. */
export interface DatabaseRepair {
  /**
   * Begins with an instance, unless somebody is at it already. Resolves after the first attempt; the others follow in the background. Where it is
   * quiet, nothing is said before that one has failed.
   */
  repair(id: string, options?: { readonly reason?: string; readonly isQuiet?: boolean }): Promise<void>;
}

export interface RepairParts extends RecordStateParts {
  /** Runs work that is waited for when the platform closes. */
  readonly background: (id: string, task: Promise<void>) => void;
  readonly closing: AbortSignal;
}

/** After so many attempts an instance is said to have failed; they go on all the same. */
const attemptsUntilFailed = 5;

/** Pauses between attempts, in ms. */
const [shortest, longest] = [100, 30_000];

export function createDatabaseRepair(parts: RepairParts): DatabaseRepair {
  const { store, events, closing } = parts;
  const repairing = new Set<string>();

  /** Brings one back, and says so. */
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

  /** True where there is nothing left to do. */
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

/** Says that a database is not whole; where its primary serves, that it runs all the same. */
async function reportFailure(parts: RepairParts, id: string, reason: string): Promise<void> {
  const databases = parts.databases();
  const failure: FailureRecord = { at: parts.timestamp(), reason, of: "database" };
  const status = databases.serves(id) ? "RUNNING" : "FAILED";
  parts.events.add(id, `the database cannot be brought back yet: ${reason}`, true);
  await recordStateOrFailure(parts, id, status, { ...databases.seen(id), failure }, hasOperation);
}

/** A database that should run, and on which nobody else is at work. */
function repairable(record: InstanceRecord | undefined): InstanceRecord | undefined {
  const isRepairable =
    record !== undefined &&
    !record.isAccount &&
    record.power === "running" &&
    record.operation === undefined &&
    record.failure?.byFault !== true;
  return isRepairable ? record : undefined;
}

/** An operation that was accepted meanwhile says itself what becomes of the instance. */
function hasOperation(record: InstanceRecord): boolean {
  return record.operation !== undefined;
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
