/** @module Simulates databases for `--engine none`. */
import { createHash } from "node:crypto";
import { access, mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { nodesOf as nodeIds } from "../model/plans.ts";
import type { InstanceRecord, NodeRecord } from "../model/records.ts";
import type { Databases, RunningDatabase } from "./databases.ts";

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
    update: running,
    remove: nothing,
    async failover(record, failedNode) {
      const { host, nodes } = await running(record);
      const next = nodes.find((node) => node.id !== failedNode) ?? nodes[0];
      const failedPrimary = nodes.some((node) => node.id === failedNode && node.role === "primary");
      if (!failedPrimary) return { host, nodes };
      return { host, nodes: nodes.map((node) => ({ ...node, role: node === next ? "primary" : "replica" })) };
    },
    async backup(_record, file) {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeFile(file, "no data: made by a control plane without databases\n", { mode: 0o600 });
    },
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
