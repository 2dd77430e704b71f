import type { RunningDatabase } from "../databases/databases.ts";
import type { InstanceRecord, OperationName, OperationRecord } from "../model/records.ts";
import { endSnapshot, reasonOfFile } from "./end-snapshot.ts";
import type { LifecycleParts } from "./lifecycle.ts";
import { untilWritten } from "./record-state.ts";

/** How a record changes once the work is done; "gone" when nothing of it is left. */
export type Outcome = (Partial<InstanceRecord> & { readonly status: string }) | "gone";

/** The work behind an operation. Throws with a reason that the client may see. May be done twice: a restart of the platform begins it anew. */
export type Work = (record: InstanceRecord, operation: OperationRecord) => Promise<Outcome>;

/** What works need besides what the lifecycle has. */
export type HandlerParts = LifecycleParts & {
  /** Waits this many ms; rejects when the platform closes. */
  readonly wait: (ms: number) => Promise<void>;
};

/** The work behind each operation. */
export function operationHandlers(parts: HandlerParts): { readonly [name in OperationName]: Work } {
  const { store } = parts;
  const running = ({ host, nodes }: RunningDatabase): Exclude<Outcome, "gone"> => ({
    host,
    nodes,
    status: "RUNNING",
    power: "running",
  });

  return {
    async create(record, operation) {
      const source = store.snapshots.get(operation.snapshotId ?? "");
      const file = source === undefined ? undefined : parts.snapshotFile(source.region, source.id);
      return running(await parts.databases().start(record, file));
    },
    async update({ id }, operation) {
      // What is wanted is written down before it is tried: it stays wanted where it fails.
      const changed = await untilWritten(parts.wait, () =>
        store.instances.update(id, (record) => ({
          ...record,
          params: { ...record.params, ...operation.params },
          networkType: operation.networkType ?? record.networkType,
          customTags: operation.customTags ?? record.customTags,
        })),
      );
      return changed === undefined ? "gone" : running(await parts.databases().update(changed));
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
    async backup(record, operation) {
      const { snapshotId = "" } = operation;
      const snapshot = store.snapshots.get(snapshotId);
      if (snapshot === undefined) return { status: "RUNNING" };
      try {
        await parts.databases().backup(record, parts.snapshotFile(snapshot.region, snapshotId));
        await endSnapshot(parts, snapshotId);
      } catch (error) {
        await endSnapshot(parts, snapshotId, reasonOfFile(error));
        throw new Error(reasonOfFile(error), { cause: error });
      }
      return { status: "RUNNING" };
    },
    async upgrade(record, { planVersion }) {
      // Another version is the same program here: what runs is restarted, as the service does it.
      if (record.power === "stopped") return { planVersion, status: "STOPPED" };
      return { ...running(await parts.databases().restart(record)), planVersion };
    },
    async delete(record) {
      await parts.databases().remove(record);
      return "gone";
    },
  };
}
