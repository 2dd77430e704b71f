/** @module Defines the operations that the control plane needs on databases, and simulates them for `--engine none`. */
import { createHash } from "node:crypto";
import { access } from "node:fs/promises";
import { writeAtomically } from "../../files/atomic-write.ts";
import type { Engine, RefusedUser } from "../engine/index.ts";
import { nodesOf as nodeIds } from "../model/plans.ts";
import type { InstanceRecord, NodeRecord } from "../model/records.ts";

export type EngineInfo = Pick<Engine, "name" | "version" | "why">;

export interface RunningDatabase {
  readonly host: string;
  readonly nodes: readonly NodeRecord[];
}

export interface Databases {
  readonly engine: EngineInfo;
  /** Starts what does not run, or not by its parameters; `snapshot` is loaded at the first start. Also rejects if only a replica does not start. */
  start(record: InstanceRecord, snapshot?: string): Promise<RunningDatabase>;
  /** Rejects if the data cannot be saved; the database keeps running then. */
  stop(record: InstanceRecord): Promise<void>;
  restart(record: InstanceRecord): Promise<RunningDatabase>;
  remove(record: InstanceRecord): Promise<void>;
  /** Promotes the other node if the failed one is primary, even a silent one; then carries out the action on it. */
  failover(record: InstanceRecord, failedNode: string, action: string): Promise<RunningDatabase>;
  backup(record: InstanceRecord, file: string): Promise<void>;
  /** Host and nodes of a database that was started, by its running processes; undefined for others. */
  seen(instanceId: string): RunningDatabase | undefined;
  /** True while its primary runs and is not being stopped. */
  serves(instanceId: string): boolean;
  /** True if every node runs as the record says. */
  isUp(record: InstanceRecord): Promise<boolean>;
  /** True if the database has exactly the record's users, or does not run. */
  hasUsers(record: InstanceRecord): boolean;
  /** Applies exactly the record's users; resolves with the refused ones. */
  applyUsers(record: InstanceRecord): Promise<readonly RefusedUser[]>;
  /** Reason why the engine refuses ACL rules, or undefined; checked also while the instance's database does not run. */
  refusalOf(acl: string): Promise<string | undefined>;
  /** Gives up every database; those whose data was removed are ended. */
  abandon(): Promise<void>;
  /** Stops every database; the data stays. */
  close(): Promise<void>;
}

export interface DatabaseListener {
  /** A database does not run as it should: a node ended, is halted or does not answer. */
  down(instanceId: string, reason: string): void;
  notice(instanceId: string, what: string): void;
}

/** Databases without processes: every operation succeeds at once, and nothing listens on the ports that are shown. */
export function createNoDatabases(why: string): Databases {
  const running = async (record: InstanceRecord): Promise<RunningDatabase> => ({
    host: "127.0.0.1",
    nodes: record.nodes.length > 0 ? record.nodes : nodesOf(record),
  });
  const nothing = async (): Promise<void> => undefined;
  return {
    engine: { name: "none", version: "", why },
    async start(record, snapshot) {
      if (snapshot !== undefined) await access(snapshot);
      return running(record);
    },
    stop: nothing,
    restart: running,
    remove: nothing,
    async failover(record, failedNode) {
      const { host, nodes } = await running(record);
      const next = nodes.find((node) => node.id !== failedNode) ?? nodes[0];
      const failedPrimary = nodes.some((node) => node.id === failedNode && node.role === "primary");
      if (!failedPrimary) return { host, nodes };
      return { host, nodes: nodes.map((node) => ({ ...node, role: node === next ? "primary" : "replica" })) };
    },
    backup: (_record, file) => writeAtomically(file, "no data: made by a control plane without databases\n"),
    seen: () => undefined,
    serves: () => true,
    isUp: async () => true,
    hasUsers: () => true,
    applyUsers: async () => [],
    refusalOf: async () => undefined,
    abandon: nothing,
    close: nothing,
  };
}

/** Ports computed from the id, so that they survive restarts. */
function nodesOf(record: InstanceRecord): readonly NodeRecord[] {
  const first = 20_000 + (createHash("sha256").update(record.id).digest().readUInt32BE(0) % 20_000);
  return nodeIds(record).map((id, index) => ({
    id,
    port: first + index,
    role: index === 0 ? "primary" : "replica",
  }));
}
