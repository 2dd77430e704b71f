/** @module Does the work of each operation on the databases and records how it ended. */
import { fileTrouble } from "../../files/file-trouble.ts";
import type { RunningDatabase } from "../databases/databases.ts";
import { inTurn } from "../in-turn.ts";
import { paramRows } from "../model/field-rules.ts";
import type { FailureRecord, InstanceRecord, OperationName, OperationRecord } from "../model/records.ts";
import type { Fault } from "./faults.ts";
import { endSnapshot, noteState, type Parts, recordState, recordStateOrFailure } from "./record-state.ts";

/** Changes of the record after the operation; "gone" if the instance no longer exists. */
type Outcome = (Partial<InstanceRecord> & { readonly status: string }) | "gone";

/** Does one operation. Throws with a reason for the client. It may run twice: a restarted platform runs it again. */
type Handler = (parts: Parts, record: InstanceRecord, operation: OperationRecord) => Promise<Outcome>;

const settled = ["RUNNING", "FAILED", "COMPLETE"];

/** Statuses in which an operation is accepted (undefined: any), and the status while it runs; `execute` records the final one. */
export const transitions: {
  readonly [name in OperationName]: {
    readonly from: readonly string[] | undefined;
    readonly through: string;
  };
} = {
  create: { from: [], through: "DEPLOYING" },
  update: { from: settled, through: "DEPLOYING" },
  stop: { from: ["RUNNING"], through: "STOPPING" },
  start: { from: ["STOPPED"], through: "STARTING" },
  restart: { from: settled, through: "RESTARTING" },
  // Failover also rescues a database whose primary cannot be restarted.
  failover: { from: ["RUNNING", "FAILED", "RESTARTING"], through: "DEPLOYING" },
  backup: { from: ["RUNNING"], through: "BACKING_UP" },
  upgrade: { from: ["RUNNING", "STOPPED"], through: "DEPLOYING" },
  delete: { from: undefined, through: "DELETING" },
};

const running = ({ host, nodes }: RunningDatabase): Exclude<Outcome, "gone"> => ({
  host,
  nodes,
  status: "RUNNING",
  power: "running",
});

const handlers: { readonly [name in OperationName]: Handler } = {
  async create({ databases, store, snapshotFile }, record, operation) {
    const source = store.snapshots.get(operation.snapshotId ?? "");
    const file = source === undefined ? undefined : snapshotFile(source.region, source.id);
    return running(await databases.start(record, file));
  },
  async update({ databases, store }, { id }, operation) {
    // The new settings are noted first, so that a failed update is still wanted. The accepted operation is on disk with them.
    store.instances.note(id, (record) => ({
      ...record,
      params: { ...record.params, ...operation.params },
      networkType: operation.networkType ?? record.networkType,
      customTags: operation.customTags ?? record.customTags,
    }));
    const changed = store.instances.get(id);
    if (changed === undefined) return "gone";
    // A field that restarts the node does so even if its value stays the same.
    const names = Object.keys(operation.params ?? {});
    const restarts = names.some((name) => paramRows[name]?.["x-disruption"] === "restart");
    return running(await (restarts ? databases.restart(changed) : databases.start(changed)));
  },
  start: async ({ databases }, record) => running(await databases.start(record)),
  restart: async ({ databases }, record) => running(await databases.restart(record)),
  async stop({ databases }, record) {
    await databases.stop(record);
    return { status: "STOPPED", power: "stopped" };
  },
  async failover({ databases }, record, { failedNode = "", failoverAction = "" }) {
    return running(await databases.failover(record, failedNode, failoverAction));
  },
  async backup(parts, record, { snapshotId = "" }) {
    const snapshot = parts.store.snapshots.get(snapshotId);
    // A snapshot that a client saw complete is never written again.
    if (snapshot?.status !== "pending") return { status: "RUNNING" };
    try {
      await parts.databases.backup(record, parts.snapshotFile(snapshot.region, snapshotId));
      await endSnapshot(parts, snapshotId);
    } catch (error) {
      await endSnapshot(parts, snapshotId, fileTrouble(error));
      throw error;
    }
    return { status: "RUNNING" };
  },
  async upgrade({ databases }, record, { planVersion }) {
    // All versions run the same program: the database is only restarted, as by the service.
    if (record.power === "stopped") return { planVersion, status: "STOPPED" };
    return { ...running(await databases.restart(record)), planVersion };
  },
  async delete({ databases }, record) {
    await databases.remove(record);
    return "gone";
  },
};

/** Executes an accepted operation; resolves at its end. A restarted platform finds it in the record and executes it again. */
export async function execute(
  parts: Parts,
  id: string,
  operation: OperationRecord,
  fault: Fault,
): Promise<void> {
  const { settings, tasks, events } = parts;
  const { name } = operation;
  const delay = settings.delayOf(name);
  const stale = fault.staleStatus ?? settings.staleStatus;
  await tasks.wait(name === "create" ? Math.max(stale, delay / 4) : stale);
  noteState(parts, id, { status: transitions[name].through });
  if (fault.stuck === true) return noteState(parts, id, { operation: { ...operation, stuck: true } });
  await tasks.wait(delay);
  if (fault.failed !== undefined) return failOnRequest(parts, id, operation, fault.failed);
  await inTurn(`instance ${id}`, async () => {
    const record = parts.store.instances.get(id);
    if (record === undefined) return;
    try {
      const outcome = await handlers[name](parts, record, operation);
      if (outcome === "gone") return await removeInstance(parts, id);
      await recordState(parts, id, { failure: undefined, ...outcome, operation: undefined });
      events.add(id, `${name} done: ${outcome.status}`);
    } catch (error) {
      if (!tasks.closing.aborted) await fail(parts, id, name, fileTrouble(error));
    }
  });
}

async function removeInstance(parts: Parts, id: string): Promise<void> {
  const { store, tasks } = parts;
  for (const { id: snapshot, copyOf, sourceInstanceId, status } of store.snapshots.list()) {
    if (sourceInstanceId === id && status === "pending" && copyOf === undefined)
      await endSnapshot(parts, snapshot, "the instance was deleted meanwhile");
  }
  await tasks.untilWritten(() => store.instances.remove(id));
  parts.events.add(id, "deleted");
}

/** Records a failure: FAILED, unless the database serves as before and the operation was no update and no delete. */
async function fail(parts: Parts, id: string, name: OperationName, reason: string): Promise<void> {
  const { databases } = parts;
  parts.events.add(id, `${name} failed: ${reason}`, true);
  const isAsBefore = name !== "update" && name !== "delete" && databases.serves(id);
  const failure: FailureRecord = { at: parts.timestamp(), reason, of: name };
  const isStarted = name === "start" || name === "create";
  const power: Partial<InstanceRecord> = isStarted
    ? { power: "running" }
    : name === "delete"
      ? { power: "stopped" }
      : {};
  const ended = { ...power, ...databases.seen(id), operation: undefined, failure };
  await recordStateOrFailure(parts, id, isAsBefore ? "RUNNING" : "FAILED", ended);
}

/** Records a failure that a fault asked for: a backup makes its snapshot FAILED, any other operation its instance. */
async function failOnRequest(
  parts: Parts,
  id: string,
  operation: OperationRecord,
  reason: string,
): Promise<void> {
  const { name, snapshotId = "" } = operation;
  const failure: FailureRecord = { at: parts.timestamp(), reason, of: name, byFault: name !== "backup" };
  parts.events.add(id, `${name} failed: ${reason}`, true);
  if (name === "backup") await endSnapshot(parts, snapshotId, reason);
  const status = name === "backup" ? "RUNNING" : "FAILED";
  await recordState(parts, id, { status, operation: undefined, failure });
}
