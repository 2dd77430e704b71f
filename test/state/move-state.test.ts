import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../src/model/clock.ts";
import { createFileStore } from "../../src/state/file-store.ts";
import type { KeptStore } from "../../src/state/kept-store.ts";
import { type Move, moveState } from "../../src/state/move-state.ts";
import { createRemoteStore } from "../../src/state/remote/create-remote-store.ts";
import { sampleState } from "./samples.ts";
import { memoryBackend, memoryDriver } from "./stores/memory-driver.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A location that a state can be in, and how its lock is taken from a process that was killed. */
interface Location {
  readonly address: string;
  /** A store of a new process. */
  open(): KeptStore;
  free(): Promise<void>;
}

/** Every write of a move, counted from 1: a process is killed just before or just after it. */
interface Kill {
  readonly at: number;
  readonly when: "before" | "after";
}

const first = sampleState(20);

let now = Date.UTC(2026, 0, 1);
const clock: Clock = {
  now: () => now,
  random: () => 0.5,
  sleep: async (ms) => {
    now += ms;
  },
};

async function fileLocation(): Promise<Location> {
  const address = join(await temporaryFolder(), "shop.state.json");
  const open = (): KeptStore => createFileStore({ path: address, name: "shop" });
  return {
    address,
    open,
    async free() {
      const holder = await open().holder();
      if (holder !== undefined) await open().unlock(holder.id, { force: true });
    },
  };
}

async function sharedPlace(): Promise<Location> {
  const backend = memoryBackend(clock.now);
  const erroredFile = join(await temporaryFolder(), "shop.errored.state.json");
  return {
    address: "memory://shop",
    open: () => {
      const time = { clock, monotonic: clock.now, every: () => () => undefined };
      return createRemoteStore(memoryDriver(backend), { name: "shop", erroredFile, ...time });
    },
    async free() {
      now += 120_000;
    },
  };
}

const places = { "a file": fileLocation, "a shared store": sharedPlace };
type Name = keyof typeof places;
const pairs: readonly [Name, Name][] = [
  ["a file", "a file"],
  ["a file", "a shared store"],
  ["a shared store", "a file"],
  ["a shared store", "a shared store"],
];

/** Moves a state in a process of its own, which a kill ends. */
async function move(from: Location, to: Location, kill?: Kill): Promise<Move | "killed"> {
  let writes = 0;
  const mortal = (store: KeptStore): KeptStore => ({
    ...store,
    async replaceText(text, expected) {
      writes += 1;
      if (writes === kill?.at && kill.when === "before") throw new Error("killed");
      await store.replaceText(text, expected);
      if (writes === kill?.at) throw new Error("killed");
    },
  });
  const [old, fresh] = [mortal(from.open()), mortal(to.open())];
  const locks = [await old.lock("state migrate", { clock }), await fresh.lock("state migrate", { clock })];
  const [oldLock, freshLock] = locks;
  if (oldLock === undefined || freshLock === undefined) throw new Error("no lock");
  const ends = [
    { store: old, address: from.address, lock: oldLock },
    { store: fresh, address: to.address, lock: freshLock },
  ] as const;
  const moved = await moveState(...ends, "shop", clock).catch((error: Error) => {
    if (error.message === "killed") return "killed" as const;
    throw error;
  });
  if (moved === "killed") await Promise.all([from.free(), to.free()]);
  else for (const lock of locks) await lock.release();
  return moved;
}

async function begin(location: Location): Promise<void> {
  const store = location.open();
  const lock = await store.lock("apply", { clock });
  expect(await store.read()).toBeUndefined();
  await store.write(first);
  await store.append({
    ...{ lineage: first.lineage, serial: 2, savedAt: "2026-01-02T00:00:00.000Z" },
    event: { type: "plan-applied", fingerprint: "fingerprint-2" },
  });
  await lock.release();
}

/** What a run finds at a location: `whole` for a state that it works with, or the code of the refusal. */
async function found(location: Location): Promise<string> {
  try {
    const state = await location.open().read();
    return state === undefined ? "nothing" : "whole";
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
}

const content = {
  resources: first.resources,
  lineage: first.lineage,
  key: first.key,
  intents: first.intents,
};

describe.each(pairs)("from %s to %s", (fromName, toName) => {
  it("moves there and back, with its lineage and its key, and leaves a tombstone", async () => {
    const [from, to] = [await places[fromName](), await places[toName]()];
    await begin(from);
    expect(await move(from, to)).toMatchObject({ isResumed: false, state: content });
    expect([await found(from), await found(to)]).toEqual(["state-moved", "whole"]);
    expect(await to.open().read()).toMatchObject({
      ...content,
      appliedPlans: ["fingerprint-1", "fingerprint-2"],
    });
    expect(await move(to, from)).toMatchObject({ isResumed: false, state: content });
    expect([await found(from), await found(to)]).toEqual(["whole", "state-moved"]);
    const { text } = (await to.open().readText()) ?? { text: "" };
    expect(text).not.toContain(first.key);
    expect(text).not.toContain("instance-0");
  });

  it.each(
    [1, 2, 3].flatMap((at): Kill[] => [
      { at, when: "before" },
      { at, when: "after" },
    ]),
  )("killed $when write $at: nothing is lost, no two are in use, and the same move goes on", async (kill) => {
    const [from, to] = [await places[fromName](), await places[toName]()];
    await begin(from);
    expect(await move(from, to, kill)).toBe("killed");
    const seen = [await found(from), await found(to)];
    expect(seen.filter((each) => each === "whole").length).toBeLessThanOrEqual(1);
    // Whoever is not in use refuses, or was never written to: no run begins a second state.
    const texts = [await from.open().readText(), await to.open().readText()];
    expect(texts.some((stored) => stored?.text.includes("instance-19"))).toBe(true);
    expect(await move(from, to)).toMatchObject({ state: content });
    expect([await found(from), await found(to)]).toEqual(["state-moved", "whole"]);
    // And once more, when it is done.
    expect(await move(from, to)).toMatchObject({ isResumed: true });
    expect([await found(from), await found(to)]).toEqual(["state-moved", "whole"]);
  });
});

describe("a move", () => {
  it("refuses where there is nothing, where a state stands, and where the state has gone elsewhere", async () => {
    const [one, two, three] = [await fileLocation(), await fileLocation(), await sharedPlace()];
    await expect(move(one, two)).rejects.toMatchObject({ code: "state-missing" });
    await Promise.all([one.free(), two.free()]);
    await begin(one);
    const other = two.open();
    await other.write({ ...first, lineage: "another" });
    await expect(move(one, two)).rejects.toMatchObject({ code: "state-exists" });
    await Promise.all([one.free(), two.free()]);
    await move(one, three);
    await expect(move(one, await fileLocation())).rejects.toMatchObject({
      code: "state-moved",
      message: expect.stringContaining("memory://shop"),
    });
  });

  it("leaves no copy of the state beside a file that was moved", async () => {
    const [from, to] = [await fileLocation(), await sharedPlace()];
    await begin(from);
    await move(from, to);
    expect(await readFile(`${from.address}.backup`, "utf8")).not.toContain(first.key);
    await expect(readFile(`${from.address}.log`, "utf8")).rejects.toMatchObject({ code: "ENOENT" });
    expect(await from.open().history()).toEqual([]);
  });

  it("leaves what an older graphform refuses as newer than itself", async () => {
    const [from, to] = [await fileLocation(), await sharedPlace()];
    await begin(from);
    await move(from, to);
    const tombstone: unknown = JSON.parse(await readFile(from.address, "utf8"));
    expect(tombstone).toMatchObject({
      version: 4,
      name: "shop",
      lineage: first.lineage,
      movedTo: to.address,
    });
  });

  it("stops where what is read back is not what was written", async () => {
    const [from, to] = [await fileLocation(), await sharedPlace()];
    await begin(from);
    const store = to.open();
    const forgetful: KeptStore = {
      ...store,
      async readText() {
        const stored = await store.readText();
        return stored && { ...stored, text: stored.text.replace("instance-7", "instance-8") };
      },
    };
    const old = from.open();
    const ends = await Promise.all(
      [old, forgetful].map(async (each) => ({
        store: each,
        address: each.where,
        lock: await each.lock("state migrate", { clock }),
      })),
    );
    const [a, b] = ends;
    if (a === undefined || b === undefined) throw new Error("no ends");
    await expect(moveState(a, b, "shop", clock)).rejects.toMatchObject({ code: "state-copy" });
    expect(await found(from)).toBe("whole");
  });
});
