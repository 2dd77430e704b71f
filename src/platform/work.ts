import type { RunningDatabase } from "./databases.ts";
import type { LifecycleParts } from "./lifecycle.ts";
import type { InstanceRecord, OperationName, OperationRecord } from "./records.ts";

/** How a record changes once the work is done; "gone" when nothing of it is left. */
export type Outcome = (Partial<InstanceRecord> & { readonly status: string }) | "gone";

/** The work behind the operations. */
export interface Works {
  /** Does the real work. Throws with a reason that the client may see; the instance is then FAILED. */
  run(record: InstanceRecord, operation: OperationRecord): Promise<Outcome>;
  /** Tidies up after an operation that ends without its work. */
  abandon(operation: OperationRecord): Promise<void>;
}

type Work = (record: InstanceRecord, operation: OperationRecord) => Promise<Outcome>;

export function workOf(parts: LifecycleParts): Works {
  const { store } = parts;
  const running = ({ host, nodes }: RunningDatabase): Outcome => ({
    host,
    nodes,
    status: "RUNNING",
    power: "running",
  });

  const backup: Work = async (record, operation) => {
    const snapshot = store.snapshots.get(operation.snapshotId ?? "");
    const stillRunning: Outcome = { status: "RUNNING" };
    if (snapshot === undefined) return stillRunning;
    try {
      await parts.databases().backup(record, parts.snapshotFile(snapshot.region, snapshot.id));
      await store.snapshots.save({
        ...snapshot,
        status: "completed",
        progress: 100,
        completedAt: parts.timestamp(),
      });
    } catch (error) {
      await store.snapshots.save({ ...snapshot, status: "failed" });
      parts.events.add(
        record.id,
        `backup failed: ${error instanceof Error ? error.message : String(error)}`,
        true,
      );
    }
    return stillRunning;
  };

  const works: { readonly [name in OperationName]: Work } = {
    async create(record, operation) {
      const source = store.snapshots.get(operation.snapshotId ?? "");
      const file = source === undefined ? undefined : parts.snapshotFile(source.region, source.id);
      return running(await parts.databases().start(record, file));
    },
    async update(record, operation) {
      const changed: InstanceRecord = {
        ...record,
        params: { ...record.params, ...operation.params },
        networkType: operation.networkType ?? record.networkType,
        customTags: operation.customTags ?? record.customTags,
      };
      await store.instances.save(changed);
      return running(await parts.databases().update(changed));
    },
    start: async (record) => running(await parts.databases().start(record)),
    restart: async (record) => running(await parts.databases().restart(record)),
    async stop(record) {
      await parts.databases().stop(record);
      return { status: "STOPPED", power: "stopped" };
    },
    async failover(record, operation) {
      const { failedNode = "", failoverAction = "" } = operation;
      return running(await parts.databases().failover(record, failedNode, failoverAction));
    },
    backup,
    async delete(record) {
      await parts.databases().remove(record);
      return "gone";
    },
  };

  return {
    run: (record, operation) => works[operation.name](record, operation),
    async abandon(operation) {
      const snapshot =
        operation.name === "backup" ? store.snapshots.get(operation.snapshotId ?? "") : undefined;
      if (snapshot !== undefined) await store.snapshots.save({ ...snapshot, status: "failed" });
    },
  };
}
