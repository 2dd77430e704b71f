import { describe, expect, it } from "vitest";
import {
  describeDatabase,
  isServing,
  type RealDatabase,
} from "../../src/platform/databases/real-database.ts";
import { defaultDialect } from "../../src/platform/dialect/open-dialect.ts";
import type { Database, DatabaseNode, DatabaseSpec } from "../../src/platform/engine/index.ts";
import { topologyOf } from "../../src/platform/http/describe.ts";
import type { OperationRecord } from "../../src/platform/model/records.ts";
import { instanceRecord } from "./instance-record.ts";
import { nodesOf } from "./real.ts";

const nodes: readonly DatabaseNode[] = [
  { id: "node-sz-1", port: 2, pid: 20, role: "primary" },
  { id: "node-sz-0", port: 1, pid: 10, role: "replica" },
];

interface Seen {
  readonly ended?: readonly string[];
  readonly suspect?: string;
  readonly isBehind?: boolean;
  readonly isEnding?: boolean;
}

function entryOf({ ended = [], suspect, isBehind = false, isEnding = false }: Seen): RealDatabase {
  const database: Pick<Database, "host" | "nodes" | "down" | "trouble"> = {
    host: "127.0.0.1",
    nodes: () => nodes,
    down: () => nodes.filter(({ id }) => ended.includes(id)),
    trouble: () => (isBehind ? new Error("not in sync") : undefined),
  };
  const isDatabase = (_value: unknown): _value is Database => true;
  if (!isDatabase(database)) throw new Error("unreachable");
  const spec: DatabaseSpec = { dir: "", user: "app", password: "", nodes: 2, parameters: {} };
  return { database, spec, instanceType: "", isEnding, suspect };
}

describe("the nodes of a database", () => {
  it.each<[string, Seen, readonly string[], boolean]>([
    ["all are well", {}, [], true],
    ["the primary has ended", { ended: ["node-sz-1"] }, ["node-sz-1"], false],
    ["the replica has ended", { ended: ["node-sz-0"] }, ["node-sz-0"], true],
    ["the primary is halted or silent", { suspect: "node-sz-1" }, ["node-sz-1"], false],
    ["the replica is halted or silent", { suspect: "node-sz-0" }, ["node-sz-0"], true],
    ["the replica runs and is not in sync", { isBehind: true }, ["node-sz-0"], true],
    ["it is being stopped", { isEnding: true }, [], false],
  ])("are down, and serve, as they do: %s", (_why, seen, down, serves) => {
    const entry = entryOf(seen);
    const shown = describeDatabase(entry).nodes.filter(({ isDown }) => isDown === true);
    expect([shown.map(({ id }) => id), isServing(entry)]).toEqual([down, serves]);
  });

  const restart: OperationRecord = { name: "restart", id: "1", startedAt: "" };
  it.each<[string, string, OperationRecord | undefined, string]>([
    ["the node that runs, while a repair restarts the other one", "RESTARTING", undefined, "HEALTHY"],
    ["none, while an operation restarts them", "RESTARTING", restart, "UNHEALTHY"],
    ["none, once the repair has given up for a while", "FAILED", undefined, "UNHEALTHY"],
  ])("are healthy: %s", (_why, status, operation, health) => {
    const record = instanceRecord({ component: "single-zone", status, operation, host: "127.0.0.1" });
    const pair = describeDatabase(entryOf({ ended: ["node-sz-1"] })).nodes;
    const parts = { dialect: defaultDialect, key: Buffer.alloc(32) };
    const shown = nodesOf({ detailedNetworkTopology: topologyOf(parts, { ...record, nodes: pair }) });
    expect(shown.map(({ id, healthStatus }) => `${id} ${healthStatus}`)).toEqual([
      `node-sz-0 ${health}`,
      "node-sz-1 UNHEALTHY",
    ]);
  });
});
