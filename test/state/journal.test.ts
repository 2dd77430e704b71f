import { mkdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Journal } from "../../src/model/journal.ts";
import { emptyState } from "../../src/state/document.ts";
import { createFileStore } from "../../src/state/file-store.ts";
import { openJournal } from "../../src/state/journal.ts";
import { createMemoryStore } from "../../src/state/memory-store.ts";
import type { StateStore } from "../../src/state/store.ts";
import { sampleBound, sampleIntent } from "./samples.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const clock = { now: (): number => 0, random: (): number => 0, sleep: async (): Promise<void> => undefined };
const converging = { operation: "update", since: "2026-01-01T00:00:00.000Z", record: { size: 1 } };

describe("openJournal", () => {
  const calls: readonly [reason: string, call: (journal: Journal) => Promise<void>, expected: object][] = [
    [
      "announce",
      (journal) => journal.announce("instances.a", sampleIntent()),
      { intents: { "instances.a": sampleIntent() } },
    ],
    [
      "bind",
      (journal) => journal.bind("instances.a", sampleBound("i")),
      { resources: { "instances.a": sampleBound("i") } },
    ],
    ["burn", (journal) => journal.burn("f"), { burnt: ["f"] }],
    [
      "outputs",
      (journal) => journal.outputs({ a: { value: 1, sensitive: false } }),
      { outputs: { a: { value: 1, sensitive: false } } },
    ],
  ];
  it.each(calls)("%s is stored when it resolves", async (_, call, expected) => {
    const store = createMemoryStore();
    const journal = openJournal(store, emptyState("shop"), clock);
    await call(journal);
    expect(await store.read()).toMatchObject({ serial: 1, ...expected });
    expect(journal.state).toEqual(await store.read());
  });

  it("keeps a create's whole story", async () => {
    const store = createMemoryStore();
    const journal = openJournal(store, emptyState("shop"), clock);
    await journal.announce("instances.a", sampleIntent());
    await journal.acknowledge("instances.a", {
      id: "i-1",
      createdAt: "2026-01-01T00:00:00.000Z",
      converging,
    });
    expect(journal.state).toMatchObject({
      intents: {},
      resources: { "instances.a": { id: "i-1", converging } },
    });
    await journal.settled("instances.a");
    expect(journal.state.resources["instances.a"]).toMatchObject({
      recorded: { "config.name": "orders", size: 1 },
    });
    await journal.accepted("instances.a", converging);
    await journal.unsettled("instances.a");
    expect(journal.state.resources["instances.a"]).not.toHaveProperty("converging");
    await journal.move("instances.a", "instances.b");
    await journal.announce("instances.c", sampleIntent());
    await journal.abandon("instances.c");
    expect(Object.keys(journal.state.resources)).toEqual(["instances.b"]);
    await journal.release("instances.b");
    expect(await store.read()).toMatchObject({ resources: {}, intents: {}, serial: 9 });
  });

  it("writes nothing where nothing changes", async () => {
    const store = createMemoryStore();
    const journal = openJournal(store, emptyState("shop"), clock);
    await journal.abandon("instances.a");
    await journal.settled("instances.a");
    await journal.release("instances.a");
    expect(await store.read()).toBeUndefined();
  });

  it("loses no change of a thousand that come at once", async () => {
    const path = join(await temporaryFolder(), "shop.state.json");
    const store = createFileStore({ path, name: "shop" });
    const journal = openJournal(store, emptyState("shop"), clock);
    const addresses = Array.from({ length: 1000 }, (_, index) => `instances.db${index}`);
    await Promise.all(addresses.map((address) => journal.bind(address, sampleBound(address))));
    const stored = await createFileStore({ path, name: "shop" }).read();
    expect(Object.keys(stored?.resources ?? {}).sort()).toEqual([...addresses].sort());
  });

  it("brings a change that could not be written with the next one", async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "in", "shop.state.json");
    const store = createFileStore({ path, name: "shop" });
    const journal = openJournal(store, emptyState("shop"), clock);
    await journal.bind("instances.a", sampleBound("a"));
    await mkdir(`${path}.backup`);
    for (const name of ["b", "c"]) {
      await expect(journal.bind(`instances.${name}`, sampleBound(name))).rejects.toMatchObject({
        code: "state-unwritable",
      });
    }
    await rmdir(`${path}.backup`);
    await journal.bind("instances.d", sampleBound("d"));
    const stored = await createFileStore({ path, name: "shop" }).read();
    expect(stored?.serial).toBe(4);
    expect(Object.values(stored?.resources ?? {}).map(({ id }) => id)).toEqual(["a", "b", "c", "d"]);
  });

  it("never writes over somebody else's version, however far its own have got", async () => {
    const path = join(await temporaryFolder(), "shop.state.json");
    const [mine, other] = [createFileStore({ path }), createFileStore({ path })];
    const journal = openJournal(mine, emptyState("shop"), clock);
    await journal.bind("instances.a", sampleBound("a"));
    const others = openJournal(other, (await other.read()) ?? emptyState("shop"), clock);
    for (const name of ["x", "y", "z"]) await others.bind(`instances.${name}`, sampleBound(name));
    for (const name of ["b", "c", "d", "e"]) {
      await expect(journal.bind(`instances.${name}`, sampleBound(name))).rejects.toMatchObject({
        code: "state-conflict",
      });
    }
    expect((await other.read())?.serial).toBe(4);
  });

  it("nor where both come from one saved plan of a state that was not born yet", async () => {
    const path = join(await temporaryFolder(), "shop.state.json");
    const birth = { lineage: "of-the-plan", key: "ab".repeat(32) };
    const [mine, other] = [createFileStore({ path }), createFileStore({ path })];
    const open = async (store: StateStore): Promise<Journal> =>
      openJournal(store, (await store.read()) ?? emptyState("shop", birth), clock);
    const [journal, others] = [await open(mine), await open(other)];
    await others.bind("instances.x", sampleBound("x"));
    for (const name of ["a", "b"]) {
      await expect(journal.bind(`instances.${name}`, sampleBound(name))).rejects.toMatchObject({
        code: "state-conflict",
      });
    }
    expect(Object.keys((await other.read())?.resources ?? {})).toEqual(["instances.x"]);
  });
});
