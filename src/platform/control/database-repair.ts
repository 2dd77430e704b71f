/** @module Restarts databases that should run and do not, until they run again, and shows them as they are meanwhile. */
import { fileTrouble } from "../../files/file-trouble.ts";
import { inTurn } from "../in-turn.ts";
import type { FailureRecord, InstanceRecord } from "../model/records.ts";
import { noteState, recordState, recordStateOrFailure, type StateParts } from "./record-state.ts";

/** The repair of databases. Both functions resolve after the first attempt; further attempts run in the background. */
export interface DatabaseRepair {
  /** Repairs an instance if it needs that, unless a repair is under way. */
  repair(id: string): Promise<void>;
  /** Shows at once, also on a full disk, that a database does not run as it should, and repairs it. */
  down(id: string, reason: string): Promise<void>;
}

interface Repair {
  /** Failed attempts since the database last served, or since the begin. */
  count: number;
  /** The primary served when the status was last shown. */
  served: boolean;
  /** The databases reported something after the last attempt had begun. */
  isNews: boolean;
  wake: () => void;
}

/** Attempts after which the instance is shown as failed; further attempts follow. */
const attemptsUntilFailed = 5;

/** Pauses between attempts, in ms. */
const [minPause, maxPause] = [100, 30_000];

export function createDatabaseRepair(parts: StateParts): DatabaseRepair {
  const { store, events, databases, tasks } = parts;
  const { closing } = tasks;
  const repairs = new Map<string, Repair>();

  const startAgain = async (id: string, record: InstanceRecord): Promise<undefined> => {
    const found = await databases.start(record);
    const isOver = record.status === "FAILED" || record.failure?.of === "database";
    const failure = isOver ? undefined : record.failure;
    await recordState(parts, id, { ...found, status: "RUNNING", failure }, hasOperation);
    events.add(id, "database serves again");
    return undefined;
  };

  /** Host and nodes as they are; all nodes are down if this platform could not start the database. */
  const seenNow = (id: string): Partial<InstanceRecord> => {
    const nodes = store.instances.get(id)?.nodes ?? [];
    return databases.seen(id) ?? { nodes: nodes.map((node) => ({ ...node, isDown: true })) };
  };

  /** Shows which nodes run, and RESTARTING in place of RUNNING. */
  const showDown = (id: string, repair: Repair): void => {
    repair.served = databases.serves(id);
    noteState(parts, id, seenNow(id));
    const isShown = ({ status }: InstanceRecord): boolean => status === "RUNNING" && repair.count === 0;
    noteState(parts, id, { status: "RESTARTING" }, (record) => !isRepairable(record) || !isShown(record));
  };

  /** Shows a database that is not complete after many attempts: RUNNING if its primary serves, FAILED otherwise. */
  const showFailed = async (id: string, repair: Repair, reason: string): Promise<void> => {
    repair.served = databases.serves(id);
    const status = repair.served ? "RUNNING" : "FAILED";
    const known = store.instances.get(id);
    if (known?.status === status && known.failure?.reason === reason) return;
    events.add(id, `the database cannot be brought back yet: ${reason}`, true);
    const failure: FailureRecord = { at: parts.timestamp(), reason, of: "database" };
    await recordStateOrFailure(parts, id, status, { ...seenNow(id), failure }, hasOperation);
  };

  /** True if the database runs, or is no longer to be repaired. */
  const attempt = (id: string, repair: Repair): Promise<boolean> =>
    inTurn(`instance ${id}`, async () => {
      repair.isNews = false;
      const record = store.instances.get(id);
      if (closing.aborted || record === undefined || !isRepairable(record)) return true;
      if (record.status === "RUNNING" && (await databases.isUp(record))) return true;
      // The first start of this platform shows nothing unless it fails: no client has seen the database go.
      if (databases.seen(id) !== undefined) showDown(id, repair);
      const failure = await startAgain(id, record).catch(fileTrouble);
      repair.served = failure === undefined;
      if (failure === undefined || closing.aborted) return true;
      showDown(id, repair);
      if (repair.count + 1 >= attemptsUntilFailed) await showFailed(id, repair, failure);
      return false;
    });

  /** True once the database runs, and nothing was reported of it meanwhile. */
  const tryOnce = async (id: string, repair: Repair): Promise<boolean> => {
    const isDone = await attempt(id, repair).catch((error: unknown) => {
      events.add(id, `the platform failed: ${fileTrouble(error)}`, true);
      return closing.aborted;
    });
    if (isDone && (!repair.isNews || closing.aborted)) {
      repairs.delete(id);
      return true;
    }
    repair.count += 1;
    return false;
  };

  const keepTrying = async (id: string, repair: Repair): Promise<void> => {
    do {
      const woken = Promise.withResolvers<void>();
      repair.wake = woken.resolve;
      if (repair.isNews) update(id, repair);
      await Promise.race([tasks.wait(Math.min(minPause * 2 ** (repair.count - 1), maxPause)), woken.promise]);
    } while (!(await tryOnce(id, repair)));
  };

  /** Ends the pause, and begins to count anew, if the database no longer serves. */
  const update = (id: string, repair: Repair): void => {
    if (repair.served && !databases.serves(id)) {
      repair.count = 0;
      repair.wake();
    }
    showDown(id, repair);
  };

  const repairNow = async (id: string): Promise<void> => {
    if (repairs.has(id) || closing.aborted) return;
    const repair: Repair = { count: 0, served: false, isNews: false, wake: () => undefined };
    repairs.set(id, repair);
    if (!(await tryOnce(id, repair))) tasks.run(id, keepTrying(id, repair));
  };

  return {
    repair: repairNow,
    async down(id, reason) {
      events.add(id, reason, true);
      const known = repairs.get(id);
      const repair = known ?? { count: 0, served: true, isNews: false, wake: () => undefined };
      repair.isNews = true;
      update(id, repair);
      if (known === undefined) await repairNow(id);
    },
  };
}

function isRepairable(record: InstanceRecord): boolean {
  return (
    !record.isAccount &&
    record.power === "running" &&
    record.operation === undefined &&
    record.failure?.byFault !== true
  );
}

/** True if an operation was accepted in the meantime: the operation records the status then. */
function hasOperation(record: InstanceRecord): boolean {
  return record.operation !== undefined;
}
