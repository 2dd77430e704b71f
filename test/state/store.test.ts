import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/model/clock.ts";
import { createFileStore } from "../../src/state/file-store.ts";
import { createMemoryStore } from "../../src/state/memory-store.ts";
import type { StateStore } from "../../src/state/store.ts";
import { sampleState } from "./samples.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const stores: readonly [name: string, make: () => Promise<StateStore>][] = [
  [
    "file",
    async () =>
      createFileStore({ path: join(await temporaryFolder(), "a", "b", "shop.state.json"), name: "shop" }),
  ],
  ["memory", async () => createMemoryStore()],
];

const first = sampleState();
const second = { ...first, serial: 2, savedAt: "2026-01-02T00:00:00.000Z" };

describe.each(stores)("a state in a %s", (_, make) => {
  it("is nothing before it is written", async () => {
    const store = await make();
    expect(await store.read()).toBeUndefined();
    expect(await store.holder()).toBeUndefined();
  });

  it("reads what was written last", async () => {
    const store = await make();
    await store.write(first);
    await store.write(second);
    expect(await store.read()).toEqual(second);
  });

  it.each([
    ["the first version is not 1", [second]],
    ["a version is skipped", [first, { ...first, serial: 3 }]],
    ["a version is written twice", [first, first]],
    ["the history is another one", [first, { ...second, lineage: "other" }]],
  ])("refuses to write where %s", async (_reason, versions) => {
    const store = await make();
    const last = versions.at(-1) ?? first;
    for (const version of versions.slice(0, -1)) await store.write(version);
    const before = await store.read();
    await expect(store.write(last)).rejects.toMatchObject({ code: "state-conflict", exitCode: 1 });
    expect(await store.read()).toEqual(before);
  });

  it("is locked by one at a time, who is named to the others", async () => {
    const store = await make();
    const lock = await store.lock("apply", { clock: systemClock });
    expect(await store.holder()).toMatchObject({ id: lock.id, operation: "apply", pid: process.pid });
    const refused = store.lock("destroy", { clock: systemClock });
    await expect(refused).rejects.toMatchObject({ code: "locked", exitCode: 5 });
    await expect(refused).rejects.toThrow(/held.* for apply since 20/);
    await lock.release();
    await lock.release();
    expect(await store.holder()).toBeUndefined();
    await (await store.lock("destroy", { clock: systemClock })).release();
  });

  it("waits for the lock as long as it is told, and gets it when it is free", async () => {
    const store = await make();
    const lock = await store.lock("apply", { clock: systemClock });
    let waits = 0;
    const clock = {
      now: systemClock.now,
      random: () => 0.5,
      sleep: async (): Promise<void> => {
        waits += 1;
        if (waits === 3) await lock.release();
      },
    };
    const next = await store.lock("apply", { clock, timeout: 60_000 });
    expect(waits).toBeGreaterThanOrEqual(3);
    await next.release();
  });

  it("gives up waiting for the lock when the time is over", async () => {
    const store = await make();
    const lock = await store.lock("apply", { clock: systemClock });
    let now = systemClock.now();
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
    await lock.release();
  });

  it("stops waiting for the lock when it is told to", async () => {
    const store = await make();
    const lock = await store.lock("apply", { clock: systemClock });
    const stop = new AbortController();
    const waiting = store.lock("apply", { clock: systemClock, timeout: 60_000, signal: stop.signal });
    stop.abort(new Error("interrupted"));
    await expect(waiting).rejects.toThrow("interrupted");
    await lock.release();
  });

  it("is unlocked by force by who knows the id, and by nobody else", async () => {
    const store = await make();
    const lock = await store.lock("apply", { clock: systemClock });
    await expect(store.unlock("0123456789abcdef")).rejects.toMatchObject({ code: "lock-unknown" });
    await expect(store.unlock(lock.id)).rejects.toMatchObject({ code: "lock-alive" });
    expect(await store.holder()).toMatchObject({ id: lock.id });
    const force = { force: true };
    expect(await store.unlock(lock.id, force)).toMatchObject({ id: lock.id, operation: "apply" });
    await expect(store.unlock(lock.id, force)).rejects.toMatchObject({ code: "lock-unknown" });
    const next = await store.lock("apply", { clock: systemClock });
    await lock.release();
    expect(await store.holder()).toMatchObject({ id: next.id });
    await next.release();
  });
});
