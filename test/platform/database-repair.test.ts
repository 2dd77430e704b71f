import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDatabaseRepair, type DatabaseRepair } from "../../src/platform/control/database-repair.ts";
import { createEvents } from "../../src/platform/control/events.ts";
import { createTasks } from "../../src/platform/control/tasks.ts";
import { createNoDatabases, type Databases } from "../../src/platform/databases/databases.ts";
import type { InstanceRecord } from "../../src/platform/model/records.ts";
import { openStore, type Store } from "../../src/platform/model/records.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { poll } from "./harness.ts";
import { instanceRecord } from "./instance-record.ts";

const record = instanceRecord();
const tasks = createTasks(createEvents(() => 0));

const operation = { name: "stop", id: "1", startedAt: record.createdAt } as const;
const taken = { ...record, status: "STOPPING", operation };

let dataDir = "";
let stores: Store[] = [];
beforeEach(async () => {
  dataDir = temporaryFolder("mend");
});
afterEach(async () => {
  for (const { instances } of stores) await instances.settled();
  stores = [];
});

async function newStore(): Promise<Store> {
  const store = await openStore(dataDir);
  stores.push(store);
  return store;
}

it.each([
  ["comes up", 1],
  ["cannot be brought up", Number.POSITIVE_INFINITY],
])("a database that %s says nothing over an operation that was accepted meanwhile", async (_, succeedsAt) => {
  const store = await newStore();
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
  const background: Promise<unknown>[] = [];
  const parts = {
    store,
    events: createEvents(() => 0),
    databases,
    tasks: {
      ...tasks,
      wait: async () => undefined,
      run: (_id: string, task: Promise<unknown>) => background.push(task),
    },
    timestamp: () => record.createdAt,
  };
  await createDatabaseRepair(parts).repair(record.id);
  await Promise.all(background);
  expect(starts).toBe(succeedsAt === 1 ? 1 : 5);
  expect(store.instances.get(record.id)).toMatchObject({ status: taken.status, operation, power: "running" });
});

/** Databases of one primary and one replica, whose starts succeed as far as the test lets them. */
interface World {
  readonly repair: DatabaseRepair;
  readonly databases: { isPrimaryUp: boolean; isReplicaUp: boolean; canStart: "both" | "primary" | "none" };
  /** False: this platform has not started the database yet. */
  isSeen: boolean;
  /** Attempts so far. */
  starts(): number;
  /** Lengths of the pauses so far; all but the first `passing` ones last until something ends them. */
  readonly pauses: readonly number[];
  record(): InstanceRecord | undefined;
  /** Called at the end of each start. */
  atStart: () => void;
}

async function world(passing: number): Promise<World> {
  const store = await newStore();
  const nodes = [
    { id: "node-sz-0", port: 1, role: "primary" },
    { id: "node-sz-1", port: 2, role: "replica" },
  ] as const;
  await store.instances.add({ ...record, component: "single-zone", nodes });
  const state: World["databases"] = { isPrimaryUp: true, isReplicaUp: true, canStart: "both" };
  let starts = 0;
  const pauses: number[] = [];
  const all = () => ({
    host: "127.0.0.1",
    nodes: nodes.map((node, at) => ({
      ...node,
      ...((at === 0 ? state.isPrimaryUp : state.isReplicaUp) ? {} : { isDown: true }),
    })),
  });
  const databases: Databases = {
    ...createNoDatabases("a test"),
    seen: () => (made.isSeen ? all() : undefined),
    serves: () => state.isPrimaryUp,
    isUp: async () => state.isPrimaryUp && state.isReplicaUp,
    async start() {
      starts += 1;
      if (state.canStart !== "none") state.isPrimaryUp = true;
      if (state.canStart === "both") state.isReplicaUp = true;
      made.atStart();
      if (state.canStart !== "both") throw new Error(`${state.canStart} can be started`);
      made.isSeen = true;
      return all();
    },
  };
  let at = 0;
  const repair = createDatabaseRepair({
    store,
    events: createEvents(() => 0),
    databases,
    tasks: {
      ...tasks,
      wait: (ms) => {
        pauses.push(ms);
        return pauses.length <= passing ? Promise.resolve() : new Promise(() => undefined);
      },
      run: () => undefined,
    },
    timestamp: () => {
      at += 1;
      return new Date(at).toISOString();
    },
  });
  const made: World = {
    repair,
    databases: state,
    isSeen: true,
    starts: () => starts,
    pauses,
    record: () => store.instances.get(record.id),
    atStart: () => undefined,
  };
  return made;
}

const down = ({ record: read }: World): readonly string[] =>
  (read()?.nodes ?? []).flatMap(({ id, isDown }) => (isDown === true ? [id] : []));

describe("what is shown of a database that is under repair", () => {
  it("is RUNNING with its node down if only its replica cannot be started, and RESTARTING at once when its primary ends too", async () => {
    const it = await world(6);
    Object.assign(it.databases, { isReplicaUp: false, canStart: "primary" });
    await it.repair.down(record.id, "the replica ended");
    await poll(async () => (it.pauses.length === 7 ? true : undefined), "the seventh pause");
    expect([it.record()?.status, down(it)]).toEqual(["RUNNING", ["node-sz-1"]]);
    expect(it.record()?.failure?.reason).toMatch("primary can be started");
    const before = it.starts();
    Object.assign(it.databases, { isPrimaryUp: false, canStart: "both" });
    const told = it.repair.down(record.id, "the primary ended");
    expect([it.record()?.status, down(it)]).toEqual(["RESTARTING", ["node-sz-0", "node-sz-1"]]);
    await told;
    await poll(async () => (it.record()?.status === "RUNNING" ? true : undefined), "it to run");
    expect([it.starts(), down(it), it.record()?.failure]).toEqual([before + 1, [], undefined]);
  });

  it("does not change by the end of a replica that is down already, which ends no pause either", async () => {
    const it = await world(6);
    Object.assign(it.databases, { isReplicaUp: false, canStart: "primary" });
    await it.repair.down(record.id, "the replica ended");
    await poll(async () => (it.pauses.length === 7 ? true : undefined), "the seventh pause");
    const before = [it.record(), it.starts()];
    await it.repair.down(record.id, "the replica ended");
    expect([it.record(), it.starts()]).toEqual(before);
  });

  it("is what it was while a platform starts it, and RESTARTING with all nodes down once that has failed", async () => {
    const it = await world(0);
    Object.assign(it, { isSeen: false });
    Object.assign(it.databases, { isPrimaryUp: false, isReplicaUp: false, canStart: "none" });
    const [before, during]: [unknown, unknown[]] = [it.record(), []];
    it.atStart = () => during.push(it.record());
    await it.repair.repair(record.id);
    expect(during).toEqual([before]);
    expect([it.record()?.status, down(it)]).toEqual(["RESTARTING", ["node-sz-0", "node-sz-1"]]);
  });

  it("turns from FAILED to RUNNING when the primary serves, although the replica still cannot be started", async () => {
    const it = await world(7);
    Object.assign(it.databases, { isPrimaryUp: false, isReplicaUp: false, canStart: "none" });
    const statuses: (string | undefined)[] = [];
    it.atStart = () => {
      statuses.push(it.record()?.status);
      if (it.starts() === 6) Object.assign(it.databases, { canStart: "primary", isPrimaryUp: true });
    };
    await it.repair.down(record.id, "both ended");
    await poll(async () => (it.record()?.status === "RUNNING" ? true : undefined), "its primary");
    expect(statuses.slice(0, 6)).toEqual([...Array.from({ length: 5 }, () => "RESTARTING"), "FAILED"]);
    expect(down(it)).toEqual(["node-sz-1"]);
  });

  it("is not RUNNING if the primary ends while the repair ends", async () => {
    const it = await world(6);
    it.databases.isPrimaryUp = false;
    const ended: Promise<void>[] = [];
    it.atStart = () => {
      if (it.starts() > 1) return;
      queueMicrotask(() => {
        it.databases.isPrimaryUp = false;
        ended.push(it.repair.down(record.id, "the primary ended again"));
      });
    };
    await it.repair.down(record.id, "the primary ended");
    await Promise.all(ended);
    await poll(async () => (it.starts() === 2 ? true : undefined), "another attempt");
    await poll(async () => (it.record()?.status === "RUNNING" ? true : undefined), "it to run");
    expect(down(it)).toEqual([]);
  });
});
