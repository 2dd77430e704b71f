import { mkdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Journal, StateEvent } from "../../src/model/state-event.ts";
import { emptyState } from "../../src/state/document.ts";
import { createFileStore } from "../../src/state/file-store.ts";
import { openJournal } from "../../src/state/journal.ts";
import type { StateStore } from "../../src/state/store.ts";
import { createMemoryStore } from "../support/memory-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { sampleBound, sampleIntent, sampleRound } from "./samples.ts";

const clock = { now: (): number => 0, random: (): number => 0, sleep: async (): Promise<void> => undefined };
const converging = { operation: "update", since: "2026-01-01T00:00:00.000Z", record: { size: 1 } };

const createdAt = "2026-01-01T00:00:00.000Z";

function bound(address: string, id: string): StateEvent {
  return { type: "bound", address, bound: sampleBound(id) };
}

describe("openJournal", () => {
  const events: readonly [event: StateEvent, expected: object][] = [
    [
      { type: "create-announced", address: "instances.a", intent: sampleIntent() },
      { intents: { "instances.a": sampleIntent() } },
    ],
    [bound("instances.a", "i"), { resources: { "instances.a": sampleBound("i") } }],
    [{ type: "plan-applied", fingerprint: "f" }, { appliedPlans: ["f"] }],
    [
      { type: "outputs-recorded", outputs: { a: { value: 1, sensitive: false } } },
      { outputs: { a: { value: 1, sensitive: false } } },
    ],
  ];
  it.each(events)("%o is stored when it resolves", async (event, expected) => {
    const store = createMemoryStore();
    const journal = openJournal(store, emptyState("shop"), clock);
    await journal.record(event);
    expect(await store.read()).toMatchObject({ serial: 1, ...expected });
    expect(journal.state).toEqual(await store.read());
  });

  it("keeps a create's whole story", async () => {
    const store = createMemoryStore();
    const journal = openJournal(store, emptyState("shop"), clock);
    const story: readonly StateEvent[] = [
      { type: "create-announced", address: "instances.a", intent: sampleIntent(), listed: sampleRound },
      { type: "create-refused", address: "instances.a" },
      { type: "create-acknowledged", address: "instances.a", id: "i-1", createdAt, converging },
    ];
    for (const event of story) await journal.record(event);
    expect(journal.state).toMatchObject({
      intents: {},
      rounds: {},
      resources: { "instances.a": { id: "i-1", converging } },
    });
    await journal.record({ type: "operation-settled", address: "instances.a" });
    expect(journal.state.resources["instances.a"]).toMatchObject({
      recorded: { "config.name": "orders", size: 1 },
    });
    await journal.record({ type: "operation-accepted", address: "instances.a", converging });
    await journal.record({ type: "operation-failed", address: "instances.a" });
    expect(journal.state.resources["instances.a"]).not.toHaveProperty("converging");
    await journal.record({ type: "moved", from: "instances.a", to: "instances.b" });
    await journal.record({ type: "create-announced", address: "instances.c", intent: sampleIntent() });
    await journal.record({ type: "create-abandoned", address: "instances.c" });
    expect(Object.keys(journal.state.resources)).toEqual(["instances.b"]);
    await journal.record({ type: "released", address: "instances.b" });
    expect(await store.read()).toMatchObject({ resources: {}, intents: {}, serial: 10 });
  });

  it.each([10, 1000])(
    "binds %i objects at once in two versions, and lets go of them in one",
    async (count) => {
      const store = createMemoryStore();
      const journal = openJournal(store, emptyState("shop"), clock);
      const addresses = Array.from({ length: count }, (_, index) => `instances.db${index}`);
      await Promise.all(addresses.map((address) => journal.bind(address, sampleBound(address))));
      expect(Object.keys((await store.read())?.resources ?? {})).toEqual(addresses);
      expect(journal.state.serial).toBeLessThanOrEqual(2);
      const { serial } = journal.state;
      await journal.record({ type: "released-together", addresses: addresses.slice(1) });
      expect(await store.read()).toMatchObject({ serial: serial + 1 });
      expect(Object.keys(journal.state.resources)).toEqual(["instances.db0"]);
    },
  );

  it("writes nothing where nothing changes", async () => {
    const store = createMemoryStore();
    const journal = openJournal(store, emptyState("shop"), clock);
    await journal.record({ type: "create-abandoned", address: "instances.a" });
    await journal.record({ type: "operation-settled", address: "instances.a" });
    await journal.record({ type: "released", address: "instances.a" });
    expect(await store.read()).toBeUndefined();
  });

  it("loses no change of a thousand that come at once", async () => {
    const path = join(temporaryFolder("state"), "shop.state.json");
    const store = createFileStore({ path, name: "shop" });
    const journal = openJournal(store, emptyState("shop"), clock);
    const addresses = Array.from({ length: 1000 }, (_, index) => `instances.db${index}`);
    await Promise.all(addresses.map((address) => journal.record(bound(address, address))));
    const stored = await createFileStore({ path, name: "shop" }).read();
    expect(Object.keys(stored?.resources ?? {}).sort()).toEqual([...addresses].sort());
  });

  it("brings a change that could not be written with the next one", async () => {
    const folder = temporaryFolder("state");
    const path = join(folder, "in", "shop.state.json");
    const store = createFileStore({ path, name: "shop" });
    const journal = openJournal(store, emptyState("shop"), clock);
    await journal.record(bound("instances.a", "a"));
    await mkdir(`${path}.backup`);
    for (const name of ["b", "c"]) {
      await expect(journal.record(bound(`instances.${name}`, name))).rejects.toMatchObject({
        code: "state-unwritable",
      });
    }
    await rmdir(`${path}.backup`);
    await journal.record(bound("instances.d", "d"));
    const stored = await createFileStore({ path, name: "shop" }).read();
    expect(stored?.serial).toBe(4);
    expect(Object.values(stored?.resources ?? {}).map(({ id }) => id)).toEqual(["a", "b", "c", "d"]);
  });

  it("never writes over somebody else's version, however far its own have got", async () => {
    const path = join(temporaryFolder("state"), "shop.state.json");
    const [mine, other] = [createFileStore({ path }), createFileStore({ path })];
    const journal = openJournal(mine, emptyState("shop"), clock);
    await journal.record(bound("instances.a", "a"));
    const others = openJournal(other, (await other.read()) ?? emptyState("shop"), clock);
    for (const name of ["x", "y", "z"]) await others.record(bound(`instances.${name}`, name));
    for (const name of ["b", "c", "d", "e"]) {
      await expect(journal.record(bound(`instances.${name}`, name))).rejects.toMatchObject({
        code: "state-conflict",
      });
    }
    expect((await other.read())?.serial).toBe(4);
  });

  it("nor where both began with the same lineage", async () => {
    const path = join(temporaryFolder("state"), "shop.state.json");
    const birth = { lineage: "of-the-plan", key: "ab".repeat(32) };
    const [mine, other] = [createFileStore({ path }), createFileStore({ path })];
    const open = async (store: StateStore): Promise<Journal> =>
      openJournal(store, (await store.read()) ?? emptyState("shop", birth), clock);
    const [journal, others] = [await open(mine), await open(other)];
    await others.record(bound("instances.x", "x"));
    for (const name of ["a", "b"]) {
      await expect(journal.record(bound(`instances.${name}`, name))).rejects.toMatchObject({
        code: "state-conflict",
      });
    }
    expect(Object.keys((await other.read())?.resources ?? {})).toEqual(["instances.x"]);
  });
});
