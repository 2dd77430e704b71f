/** @module Does the real work of each operation on the databases. */
import { fileTrouble } from "../../files/file-trouble.ts";
import type { Databases, RunningDatabase } from "../databases/databases.ts";
import type { Store } from "../model/collection.ts";
import { paramRows } from "../model/field-rules.ts";
import type { InstanceRecord, OperationName, OperationRecord } from "../model/records.ts";
import type { Settings } from "../options.ts";
import type { Events } from "./events.ts";
import { endSnapshot } from "./record-state.ts";

/** Changes of the record after the operation; "gone" where the instance no longer exists. */
export type Outcome = (Partial<InstanceRecord> & { readonly status: string }) | "gone";

/** Does one operation. Throws with a reason for the client. It may run twice: a restarted platform runs it again. */
export type OperationHandler = (record: InstanceRecord, operation: OperationRecord) => Promise<Outcome>;

/** Parts of the platform that the lifecycle works with. `databases` is a function, since the databases report to the listener made here. */
export interface LifecycleParts {
  readonly store: Store;
  readonly settings: Settings;
  readonly events: Events;
  readonly databases: () => Databases;
  readonly snapshotFile: (region: string, snapshotId: string) => string;
  readonly timestamp: () => string;
}

/** Options of `operationHandlers`. */
export type HandlerParts = LifecycleParts & {
  /** Waits this many ms; rejects when the platform closes. */
  readonly wait: (ms: number) => Promise<void>;
};

/** True where an update sends a field that restarts the node, whether or not its value is another one. */
function restartsNode(params: OperationRecord["params"]): boolean {
  return Object.keys(params ?? {}).some((name) => paramRows[name]?.["x-disruption"] === "restart");
}

/** Handlers by operation. */
export function operationHandlers(parts: HandlerParts): {
  readonly [name in OperationName]: OperationHandler;
} {
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
      // The new settings are noted first, so that a failed update is still wanted. The accepted operation is on disk with them.
      store.instances.note(id, (record) => ({
        ...record,
        params: { ...record.params, ...operation.params },
        networkType: operation.networkType ?? record.networkType,
        customTags: operation.customTags ?? record.customTags,
      }));
      const changed = store.instances.get(id);
      return changed === undefined
        ? "gone"
        : running(await parts.databases().update(changed, restartsNode(operation.params)));
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
      // A snapshot that a client saw complete is never written again.
      if (snapshot?.status !== "pending") return { status: "RUNNING" };
      try {
        await parts.databases().backup(record, parts.snapshotFile(snapshot.region, snapshotId));
        await endSnapshot(parts, snapshotId);
      } catch (error) {
        await endSnapshot(parts, snapshotId, fileTrouble(error));
        throw error;
      }
      return { status: "RUNNING" };
    },
    async upgrade(record, { planVersion }) {
      // All versions run the same program: the database is only restarted, as by the service.
      if (record.power === "stopped") return { planVersion, status: "STOPPED" };
      return { ...running(await parts.databases().restart(record)), planVersion };
    },
    async delete(record) {
      await parts.databases().remove(record);
      return "gone";
    },
  };
}

/** Statuses around an operation. */
export interface Transition {
  /** Statuses in which it is accepted; undefined: any. */
  readonly from: readonly string[] | undefined;
  readonly through: string;
}

const settled = ["RUNNING", "FAILED", "COMPLETE"];

/** Transitions by operation; `execute` records the final status. */
export const transitions: { readonly [name in OperationName]: Transition } = {
  create: { from: [], through: "DEPLOYING" },
  update: { from: settled, through: "DEPLOYING" },
  stop: { from: ["RUNNING"], through: "STOPPING" },
  start: { from: ["STOPPED"], through: "STARTING" },
  restart: { from: settled, through: "RESTARTING" },
  // Failover is also the way out for a database whose primary cannot be restarted.
  failover: { from: ["RUNNING", "FAILED", "RESTARTING"], through: "DEPLOYING" },
  backup: { from: ["RUNNING"], through: "BACKING_UP" },
  upgrade: { from: ["RUNNING", "STOPPED"], through: "DEPLOYING" },
  delete: { from: undefined, through: "DELETING" },
};
