import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/model/clock.ts";
import type { KeptStore } from "../../src/state/kept-store.ts";
import { moveState } from "../../src/state/move-state.ts";
import { sampleState } from "./samples.ts";
import { assertSafe, found, type Kill, move } from "./stores/kill-a-move.ts";
import { filePlace, memoryPlace, type Place } from "./stores/places.ts";

const first = sampleState(20);
const clock = systemClock;

const places = { "a file": filePlace, "a shared store": memoryPlace };
type Name = keyof typeof places;
const pairs: readonly [Name, Name][] = [
  ["a file", "a file"],
  ["a file", "a shared store"],
  ["a shared store", "a file"],
  ["a shared store", "a shared store"],
];

async function begin(place: Place): Promise<void> {
  const store = place.open();
  const lock = await store.lock("apply", { clock });
  expect(await store.read()).toBeUndefined();
  await store.write(first);
  await store.append({
    ...{ lineage: first.lineage, serial: 2, savedAt: "2026-01-02T00:00:00.000Z" },
    event: { type: "plan-applied", fingerprint: "fingerprint-2" },
  });
  await lock.release();
}

async function both(from: Place, to: Place): Promise<readonly string[]> {
  return [(await found(from)).is, (await found(to)).is];
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
    expect(await both(from, to)).toEqual(["state-moved", "whole"]);
    expect(await to.open().read()).toMatchObject({
      ...content,
      appliedPlans: ["fingerprint-1", "fingerprint-2"],
    });
    expect(await move(to, from)).toMatchObject({ isResumed: false, state: content });
    expect(await both(from, to)).toEqual(["whole", "state-moved"]);
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
    await assertSafe(from, to, kill, content);
    expect(await move(from, to)).toMatchObject({ state: content });
    expect(await both(from, to)).toEqual(["state-moved", "whole"]);
    // And once more, when it is done.
    expect(await move(from, to)).toMatchObject({ isResumed: true });
    expect(await both(from, to)).toEqual(["state-moved", "whole"]);
  });
});

describe("a move", () => {
  it("refuses where there is nothing, where a state stands, and where the state has gone elsewhere", async () => {
    const [one, two, three] = [await filePlace(), await filePlace(), await memoryPlace()];
    await expect(move(one, two)).rejects.toMatchObject({ code: "state-missing" });
    await Promise.all([one.free(), two.free()]);
    await begin(one);
    const other = two.open();
    await other.write({ ...first, lineage: "another" });
    await expect(move(one, two)).rejects.toMatchObject({ code: "state-exists" });
    await Promise.all([one.free(), two.free()]);
    await move(one, three);
    await expect(move(one, await filePlace())).rejects.toMatchObject({
      code: "state-moved",
      message: expect.stringContaining("memory://shop"),
    });
  });

  it("does not put a copy into use that an earlier move left, once the state has gone elsewhere", async () => {
    const [from, given, taken] = [await filePlace(), await filePlace(), await memoryPlace()];
    await begin(from);
    expect(await move(from, given, { at: 1, when: "after" })).toBe("killed");
    await move(from, taken);
    await expect(move(from, given)).rejects.toMatchObject({ code: "state-moved" });
    expect(await both(given, taken)).toEqual(["state-moving", "whole"]);
  });

  it("leaves no copy of the state beside a file that was moved", async () => {
    const [from, to] = [await filePlace(), await memoryPlace()];
    await begin(from);
    await move(from, to);
    expect(await readFile(`${from.address}.backup`, "utf8")).not.toContain(first.key);
    await expect(readFile(`${from.address}.log`, "utf8")).rejects.toMatchObject({ code: "ENOENT" });
    expect(await from.open().history()).toEqual([]);
  });

  it("leaves what an older graphform refuses as newer than itself", async () => {
    const [from, to] = [await filePlace(), await memoryPlace()];
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
    const [from, to] = [await filePlace(), await memoryPlace()];
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
    expect(await found(from)).toMatchObject({ is: "whole" });
  });
});
