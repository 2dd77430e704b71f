import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createDatabaseRepair } from "../../src/platform/control/database-repair.ts";
import { createEvents } from "../../src/platform/control/events.ts";
import type { Databases } from "../../src/platform/databases/databases.ts";
import { createNoDatabases } from "../../src/platform/databases/no-databases.ts";
import { openStore } from "../../src/platform/model/store.ts";
import { instanceRecord } from "./instance-record.ts";

const record = instanceRecord();

const operation = { name: "stop", id: "1", startedAt: record.createdAt } as const;
const taken = { ...record, status: "STOPPING", operation };

let dataDir = "";
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "graphform-mend-"));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

it.each([
  ["comes up", 1],
  ["cannot be brought up", Number.POSITIVE_INFINITY],
])("a database that %s says nothing over an operation that was accepted meanwhile", async (_, succeedsAt) => {
  const store = await openStore(dataDir);
  await store.instances.add(record);
  let starts = 0;
  const databases: Databases = {
    ...createNoDatabases("a test"),
    isUp: async () => false,
    serves: () => false,
    async start() {
      starts += 1;
      // The last attempt before an instance is said to have failed.
      if (starts === 5 || succeedsAt === 1) await store.instances.update(record.id, () => taken);
      if (starts < succeedsAt) throw new Error("it does not start");
      return { host: "127.0.0.1", nodes: record.nodes };
    },
  };
  const background: Promise<void>[] = [];
  const { signal } = new AbortController();
  const parts = {
    store,
    events: createEvents(() => 0),
    databases: () => databases,
    wait: async () => undefined,
    timestamp: () => record.createdAt,
    background: (_id: string, task: Promise<void>) => background.push(task),
    closing: signal,
  };
  await createDatabaseRepair(parts).repair(record.id);
  await Promise.all(background);
  expect(starts).toBe(succeedsAt === 1 ? 1 : 5);
  expect(store.instances.get(record.id)).toEqual(taken);
});
