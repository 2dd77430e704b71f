import { expect } from "vitest";
import type { StateDocument } from "../../../src/model/state.ts";
import { openJournal } from "../../../src/state/journal.ts";
import { movedText } from "../../../src/state/moved.ts";
import { readState } from "../../../src/state/read-state.ts";
import type { Lock, StateStore } from "../../../src/state/store.ts";
import { sampleBound, sampleState } from "../samples.ts";
import { hurriedClock, type Opened, type StoreBench } from "./store-bench.ts";

/** Says that a store by its nature cannot play a case, and why; the case then checks what must hold instead. */
export type Instead = (reason: string) => void;

export type Case = readonly [name: string, play: (bench: StoreBench, instead: Instead) => Promise<void>];

export const first: StateDocument = sampleState();
export const second: StateDocument = { ...first, serial: 2, savedAt: "2026-01-02T00:00:00.000Z" };

/** Takes the lock with a lease of a minute. */
export const lockOf = ({ store, clock }: Opened, operation = "apply", timeout = 0): Promise<Lock> =>
  store.lock(operation, { clock, timeout });

/** Works under the lock, as a run does. */
export async function under<T>(
  opened: Opened,
  work: (store: StateStore, lock: Lock) => Promise<T>,
): Promise<T> {
  const lock = await lockOf(opened);
  try {
    const done = await work(opened.store, lock);
    await lock.finish();
    return done;
  } finally {
    await lock.release();
  }
}

/** The stored state, as a process reads it that has just begun. */
export const stored = (bench: StoreBench): ReturnType<StateStore["read"]> => bench.open().store.read();

/** What every store does in the same way. */
export const usualCases: readonly Case[] = [
  [
    "is nothing before it is written",
    async (bench) => {
      const { store } = bench.open();
      expect(await store.read()).toBeUndefined();
      expect(await store.holder()).toBeUndefined();
    },
  ],
  [
    "reads what was written last, also in another process",
    async (bench) => {
      await under(bench.open(), async (store) => {
        await store.write(first);
        await store.write(second);
        expect(await store.read()).toEqual(second);
      });
      expect(await stored(bench)).toEqual(second);
    },
  ],
  ...(
    [
      ["the first version is not 1", [second]],
      ["a version is skipped", [first, { ...first, serial: 3 }]],
      ["a version is written twice", [first, first]],
      ["the history is another one", [first, { ...second, lineage: "other" }]],
    ] as const
  ).map(
    ([name, versions]): Case => [
      `refuses to write where ${name}`,
      async (bench) => {
        const opened = bench.open();
        const lock = await lockOf(opened);
        for (const version of versions.slice(0, -1)) await opened.store.write(version);
        const before = await stored(bench);
        const refused = opened.store.write(versions.at(-1) ?? first);
        await expect(refused).rejects.toMatchObject({ code: "state-conflict", exitCode: 1 });
        expect(await stored(bench)).toEqual(before);
        await lock.release();
      },
    ],
  ),
  [
    "stores the events of a run that come at once, in their order",
    async (bench) => {
      await under(bench.open(), async (store) => {
        await store.write(first);
        const journal = openJournal(store, first, hurriedClock);
        const names = Array.from({ length: 100 }, (_, index) => `instances.new${index}`);
        await journal.record({ type: "plan-applied", fingerprint: "p" });
        await Promise.all(
          names.map((address) => journal.record({ type: "bound", address, bound: sampleBound(address) })),
        );
        expect(await stored(bench)).toEqual(journal.snapshot());
      });
    },
  ],
  [
    "is locked by one at a time, who is named to the others with exit code 5",
    async (bench) => {
      const [one, other] = [bench.open(), bench.open()];
      const lock = await lockOf(one);
      const { showsOperation = true } = bench;
      expect(await other.store.holder()).toMatchObject({
        id: lock.id,
        ...(showsOperation ? { operation: "apply", pid: process.pid } : {}),
      });
      const refused = lockOf(other, "destroy");
      await expect(refused).rejects.toMatchObject({ code: "locked", exitCode: 5 });
      await expect(refused).rejects.toThrow(showsOperation ? /held.* for apply since 20/ : /held.* since 20/);
      await expect(refused).rejects.toMatchObject({ hint: expect.stringContaining(lock.id) });
      await lock.release();
      await lock.release();
      expect(await one.store.holder()).toBeUndefined();
      await (await lockOf(other, "destroy")).release();
    },
  ],
  [
    "waits for the lock as long as it may",
    async (bench) => {
      const lock = await lockOf(bench.open());
      const { store } = bench.open();
      let now = hurriedClock.now();
      const start = now;
      const clock = {
        now: () => now,
        random: () => 0.5,
        sleep: async (ms: number): Promise<void> => {
          now += ms;
        },
      };
      await expect(store.lock("plan", { clock, timeout: 30_000 })).rejects.toMatchObject({ code: "locked" });
      expect(now - start).toBe(30_000);
      const sleep = async (): Promise<void> => lock.release();
      await (await store.lock("apply", { clock: { ...clock, sleep }, timeout: 60_000 })).release();
    },
  ],
  [
    "stops waiting for the lock when it is interrupted",
    async (bench) => {
      const lock = await lockOf(bench.open());
      const stop = new AbortController();
      const { store } = bench.open();
      const waiting = store.lock("apply", { clock: hurriedClock, timeout: 600_000, signal: stop.signal });
      stop.abort(new Error("interrupted"));
      await expect(waiting).rejects.toThrow("interrupted");
      await lock.release();
    },
  ],
  [
    "stores 5 MB as they are",
    async (bench) => {
      const large = { ...first, outputs: { blob: { value: "x".repeat(5_000_000), sensitive: false } } };
      await under(bench.open(), (store) => store.write(large));
      expect((await bench.text())?.length).toBeGreaterThan(5_000_000);
      expect(await stored(bench)).toEqual(large);
    },
  ],
  [
    "stores 10 000 resources, and events after them",
    async (bench) => {
      const many = sampleState(10_000);
      await under(bench.open(), async (store) => {
        await store.write(many);
        const journal = openJournal(store, many, hurriedClock);
        await journal.record({ type: "plan-applied", fingerprint: "p" });
        await journal.record({ type: "released", address: "instances.db7" });
      });
      const found = await stored(bench);
      expect(Object.keys(found?.resources ?? {})).toHaveLength(9999);
      expect(found?.serial).toBe(3);
    },
  ],
  [
    "refuses nonsense in its place, and leaves it as it is",
    async (bench, instead) => {
      const other = JSON.stringify({ ...first, name: "other" });
      const moved = movedText({ ...second, move: "1", from: "here", to: "s3://there" });
      const texts = [
        // A page is told from a document before that, over http: `assertNoPage`.
        ["502 Bad Gateway", "state-foreign"],
        [JSON.stringify(first).slice(0, -9), "state-truncated"],
        [JSON.stringify({ ...first, extra: 1 }), "state-newer"],
        [other, "state-name"],
        [moved, "state-moved"],
        [movedText({ ...first, move: "1", from: "s3://there", to: "here", document: first }), "state-moving"],
      ] as const;
      await under(bench.open(), (store) => store.write(first));
      for (const [text, code] of texts) {
        await bench.put(text);
        if ((await bench.text()) !== text) return instead("nothing but this process can write there");
        const opened = bench.open();
        await expect(opened.store.read()).rejects.toMatchObject({ code });
        const lock = await lockOf(opened);
        await expect(opened.store.write(second)).rejects.toMatchObject({ code });
        expect(await bench.text()).toBe(text);
        await lock.release();
      }
      expect(() => readState(moved, "x")).toThrow("the state x was moved to s3://there");
    },
  ],
];
