import type * as promises from "node:fs/promises";
import { copyFile, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { systemClock } from "../../src/model/clock.ts";
import type { StateDocument } from "../../src/model/state.ts";
import type { Journal, StateEvent } from "../../src/model/state-event.ts";
import { stateFormatter } from "../../src/state/document.ts";
import { createFileStore } from "../../src/state/file-store.ts";
import { openJournal } from "../../src/state/journal.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { sampleBound, sampleIntent, sampleState } from "./samples.ts";

/** Counts what is asked of the file system, and lets nothing through from the `diesAt`-th time on. */
const disk = vi.hoisted(() => ({ count: 0, diesAt: Number.POSITIVE_INFINITY, bytes: 0, syncs: 0 }));

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof promises>();
  const pass = (): boolean => {
    disk.count += 1;
    return disk.count < disk.diesAt;
  };
  const guarded =
    <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (!pass()) throw new Error("the process is dead");
      return call(...args);
    };
  return {
    ...real,
    link: guarded(real.link),
    rename: guarded(real.rename),
    open: async (...args: Parameters<typeof real.open>) => {
      if (args[1] !== "r" && !pass()) throw new Error("the process is dead");
      const handle = await real.open(...args);
      const [write, sync, datasync] = [
        handle.writeFile.bind(handle),
        handle.sync.bind(handle),
        handle.datasync.bind(handle),
      ];
      handle.writeFile = async (data, options) => {
        const text = String(data);
        disk.bytes += Buffer.byteLength(text);
        if (pass()) return write(data, options);
        if (disk.count === disk.diesAt) await write(text.slice(0, text.length / 2), options);
        throw new Error("the process is dead");
      };
      handle.sync = guarded(async () => {
        disk.syncs += 1;
        await sync();
      });
      handle.datasync = guarded(async () => {
        disk.syncs += 1;
        await datasync();
      });
      return handle;
    },
  };
});

function bound(n: number): StateEvent {
  return { type: "bound", address: `instances.v${n}`, bound: sampleBound(`i-${n}`) };
}

async function stateAt(path: string): Promise<StateDocument | undefined> {
  return createFileStore({ path, name: "shop" }).read();
}

/** A state with a log of `events` events, as a killed run leaves it. */
async function killed(events = 3): Promise<{ readonly path: string; readonly journal: Journal }> {
  const path = join(temporaryFolder("state"), "shop.state.json");
  const store = createFileStore({ path, name: "shop" });
  await store.write(sampleState());
  const journal = openJournal(store, sampleState(), systemClock);
  for (let n = 0; n <= events; n += 1) await journal.record(bound(n));
  return { path, journal };
}

describe("the log of a state", () => {
  it("is begun by the second event of a run, and folded in as the lock is given back", async () => {
    const path = join(temporaryFolder("state"), "shop.state.json");
    const store = createFileStore({ path, name: "shop" });
    const lock = await store.lock("apply", { clock: systemClock });
    const journal = openJournal(store, { ...sampleState(), serial: 0 }, systemClock);
    await journal.record(bound(1));
    const version = async (): Promise<unknown> => JSON.parse(await readFile(path, "utf8")).version;
    expect([await version(), await readdir(join(path, ".."))]).toEqual([
      2,
      ["shop.state.json", "shop.state.json.lock"],
    ]);
    await journal.record(bound(2));
    await journal.record(bound(3));
    expect(await version()).toBe(3);
    expect((await stat(`${path}.log`)).mode & 0o777).toBe(0o600);
    expect(await stateAt(path)).toEqual(journal.snapshot());
    await lock.release();
    expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ version: 2, serial: 3 });
    expect(await stateAt(path)).toEqual(journal.snapshot());
  });

  it("makes its backup as good as the state: put back, it has everything", async () => {
    const { path, journal } = await killed();
    await rm(path);
    await expect(stateAt(path)).rejects.toMatchObject({
      code: "state-gone",
      hint: expect.stringContaining(`rm '${path}.backup' '${path}.log'`),
    });
    await copyFile(`${path}.backup`, path);
    expect(await stateAt(path)).toEqual(journal.snapshot());
    await rm(path);
    await rm(`${path}.backup`);
    await expect(stateAt(path)).rejects.toMatchObject({
      code: "state-gone",
      message: expect.stringContaining("its log"),
    });
  });

  it("and the backup do not allow an older copy of the whole state in its place, until they are gone", async () => {
    const { path } = await killed();
    await writeFile(path, stateFormatter()(sampleState()));
    await expect(stateAt(path)).rejects.toMatchObject({
      code: "state-older",
      message: expect.stringContaining("is at version 1, and"),
      hint: expect.stringContaining(`cp '${path}.backup' '${path}'`),
    });
    await rm(`${path}.backup`);
    await expect(stateAt(path)).rejects.toMatchObject({
      code: "state-older",
      message: expect.stringContaining(`${path}.log knows version 5`),
      hint: expect.stringContaining(`rm -f '${path}.backup' '${path}.log'`),
    });
    await rm(`${path}.log`);
    expect((await stateAt(path))?.serial).toBe(1);
  });

  it("does not allow an older copy in the place of the folded state either", async () => {
    const path = join(temporaryFolder("state"), "shop.state.json");
    const store = createFileStore({ path, name: "shop" });
    const lock = await store.lock("apply", { clock: systemClock });
    await store.write(sampleState());
    const journal = openJournal(store, sampleState(), systemClock);
    for (let n = 0; n < 4; n += 1) await journal.record(bound(n));
    await lock.release();
    expect((await stateAt(path))?.serial).toBe(5);
    // Between the version that the log follows and its last one.
    await writeFile(path, stateFormatter()({ ...sampleState(), serial: 3 }));
    await expect(stateAt(path)).rejects.toMatchObject({ code: "state-older" });
    await copyFile(`${path}.backup`, path);
    expect((await stateAt(path))?.serial).toBe(5);
  });

  it("of another history is no newer version", async () => {
    const { path } = await killed();
    await writeFile(path, stateFormatter()({ ...sampleState(), lineage: "another" }));
    expect((await stateAt(path))?.serial).toBe(1);
  });

  it("is not done without where its document is moved alone", async () => {
    const { path } = await killed();
    const other = join(temporaryFolder("state"), "shop.state.json");
    await copyFile(path, other);
    await expect(stateAt(other)).rejects.toMatchObject({ code: "state-log-gone" });
  });

  it("takes no event once somebody else has written there", async () => {
    const { path, journal } = await killed();
    const other = createFileStore({ path, name: "shop" });
    const others = openJournal(other, (await other.read()) ?? sampleState(), systemClock);
    await others.record(bound(50));
    await others.record(bound(51));
    for (const n of [60, 61])
      await expect(journal.record(bound(n))).rejects.toMatchObject({ code: "state-conflict" });
    expect(await stateAt(path)).toEqual(others.snapshot());
  });

  it("is left alone, and a whole document written, where somebody has only touched it", async () => {
    const { path, journal } = await killed();
    await writeFile(`${path}.log`, `${await readFile(`${path}.log`, "utf8")}x`);
    const log = await readFile(`${path}.log`, "utf8");
    await journal.record(bound(60));
    expect(await stateAt(path)).toEqual(journal.snapshot());
    expect(await readFile(`${path}.log`, "utf8")).toBe(log);
  });

  it("that vanished is no loss while the run goes on", async () => {
    const { path, journal } = await killed();
    await rm(`${path}.log`);
    await journal.record(bound(60));
    expect(await stateAt(path)).toEqual(journal.snapshot());
  });

  it("is folded in when it is long", async () => {
    const { path, journal } = await killed(1);
    const size = async (): Promise<number> => (await stat(`${path}.log`)).size;
    let longest = 0;
    for (let n = 0; n < 1500; n += 1) {
      await journal.record(bound(n % 10));
      longest = Math.max(longest, await size());
    }
    expect(longest).toBeLessThan(300 * 1024);
    expect(await size()).toBeLessThan(longest);
    expect(await stateAt(path)).toEqual(journal.snapshot());
  });
});

describe("what an event costs", () => {
  async function costOf(resources: number): Promise<object> {
    const path = join(temporaryFolder("state"), "shop.state.json");
    const store = createFileStore({ path, name: "shop" });
    const journal = openJournal(store, { ...sampleState(resources), serial: 0 }, systemClock);
    for (const n of [1, 2]) await journal.record(bound(n));
    Object.assign(disk, { bytes: 0, syncs: 0, count: 0 });
    for (let n = 100; n < 150; n += 1) {
      await journal.record({ type: "create-announced", address: `instances.v${n}`, intent: sampleIntent() });
      await journal.record(bound(n));
    }
    const { bytes, syncs, count } = disk;
    // The number of digits of a serial is that of the events.
    return { bytes, syncs, count };
  }

  it("is the same at 100 and at 1,000 resources: one addition and one sync", async () => {
    const [few, many] = [await costOf(100), await costOf(1000)];
    expect(many).toEqual(few);
    expect(few).toMatchObject({ syncs: 100 });
  });

  it("is one sync for all events of a moment", async () => {
    const { journal } = await killed();
    disk.syncs = 0;
    await Promise.all(Array.from({ length: 200 }, (_, n) => journal.record(bound(n))));
    expect(disk.syncs).toBeLessThanOrEqual(2);
  });
});

describe("a process that dies at any change of the files", () => {
  it("leaves everything that was acknowledged, and the next one goes on", async () => {
    const folder = temporaryFolder("state");
    let died = true;
    for (let moment = 1; died; moment += 1) {
      const path = join(folder, `${moment}`, "shop.state.json");
      const store = createFileStore({ path, name: "shop" });
      await store.write(sampleState());
      const lock = await store.lock("apply", { clock: systemClock });
      const journal = openJournal(store, sampleState(), systemClock);
      let durable = 1;
      Object.assign(disk, { count: 0, diesAt: moment });
      for (let n = 0; n < 5; n += 1) {
        const [before, work] = [journal.state.serial, journal.record(bound(n))];
        if (
          await work.then(
            () => true,
            () => false,
          )
        )
          durable = before + 1;
        else break;
      }
      await lock.release();
      died = disk.count >= disk.diesAt;
      disk.diesAt = Number.POSITIVE_INFINITY;
      const found = await stateAt(path);
      expect([durable, durable + 1], `moment ${moment}`).toContain(found?.serial);
      const next = createFileStore({ path, name: "shop" });
      const goesOn = openJournal(next, (await next.read()) ?? sampleState(), systemClock);
      for (const n of [7, 8, 9]) await goesOn.record(bound(n));
      expect(await stateAt(path)).toEqual(goesOn.snapshot());
      await copyFile(`${path}.backup`, path);
      expect(await stateAt(path)).toEqual(goesOn.snapshot());
    }
  });

  it("and lives all the same goes on with a whole document, whatever came as far as the disk", async () => {
    for (let moment = 1; moment < 40; moment += 1) {
      const { path, journal } = await killed(1);
      Object.assign(disk, { count: 0, diesAt: moment });
      await journal.record(bound(5)).catch(() => undefined);
      await journal.record(bound(6)).catch(() => undefined);
      disk.diesAt = Number.POSITIVE_INFINITY;
      await journal.record(bound(7));
      await journal.record(bound(8));
      expect(await stateAt(path), `moment ${moment}`).toEqual(journal.snapshot());
    }
  });
});
