import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/model/clock.ts";
import { shellWord } from "../../src/model/errors.ts";
import { moveState } from "../../src/state/move-state.ts";
import type { DurableStore } from "../../src/state/store.ts";
import { sampleState } from "./samples.ts";
import { applyAt, assertSafe, found, type Kill, move } from "./stores/kill-a-move.ts";
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
      message: expect.stringContaining("memory://shop/"),
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

  it.each(pairs)(
    "killed after its tombstone is finished by the same move alone: from %s to %s",
    async (a, b) => {
      const [from, to] = [await places[a](), await places[b]()];
      await begin(from);
      expect(await move(from, to, { at: 2, when: "after" })).toBe("killed");
      const before = await to.open().readText();
      const command = `graphform state migrate --state ${shellWord(from.address)} --to ${shellWord(to.address)}`;
      await expect(to.open().read()).rejects.toMatchObject({
        code: "state-moving",
        hint: expect.stringContaining(command),
      });
      await to.free();
      await expect(applyAt(to, "fingerprint-3")).rejects.toMatchObject({ code: "state-moving" });
      await to.free();
      if (b === "a file") expect(await to.open().readText()).toEqual(before);
      expect(await move(from, to)).toMatchObject({
        isResumed: true,
        state: { ...content, appliedPlans: ["fingerprint-1", "fingerprint-2"] },
      });
      expect(await both(from, to)).toEqual(["state-moved", "whole"]);
      // And back.
      expect(await move(to, from)).toMatchObject({ state: content });
      expect(await both(from, to)).toEqual(["whole", "state-moved"]);
    },
  );

  it("is not begun from a place that an earlier move was killed on the way to", async () => {
    const [one, two, three] = [await filePlace(), await memoryPlace(), await filePlace()];
    await begin(one);
    expect(await move(one, two, { at: 2, when: "after" })).toBe("killed");
    await expect(move(two, three)).rejects.toMatchObject({ code: "state-moving" });
    for (const place of [two, three]) await place.free();
    await move(one, two);
    expect(await move(two, three)).toMatchObject({ state: content });
    expect([...(await both(one, two)), (await found(three)).is]).toEqual([
      "state-moved",
      "state-moved",
      "whole",
    ]);
  });

  it.each(pairs)(
    "overwrites the copy of a killed move with what was applied since: from %s to %s",
    async (a, b) => {
      const [from, to] = [await places[a](), await places[b]()];
      await begin(from);
      expect(await move(from, to, { at: 1, when: "after" })).toBe("killed");
      for (const fingerprint of ["fingerprint-3", "fingerprint-4"]) await applyAt(from, fingerprint);
      expect(await found(to)).toMatchObject({ is: "state-moving" });
      expect(await move(from, to)).toMatchObject({ isResumed: true });
      expect(await to.open().read()).toMatchObject({
        ...content,
        appliedPlans: ["fingerprint-1", "fingerprint-2", "fingerprint-3", "fingerprint-4"],
      });
      expect(await both(from, to)).toEqual(["state-moved", "whole"]);
    },
  );

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
      to: to.address,
    });
  });

  it("is ended by Ctrl-C before the tombstone, and is finished after it", async () => {
    const [from, to] = [await filePlace(), await memoryPlace()];
    await begin(from);
    for (const at of [1, 2]) {
      const stop = new AbortController();
      let writes = 0;
      const ends = await Promise.all(
        [from, to].map(async (place) => {
          const store = place.open();
          const lock = await store.lock("state migrate", { clock });
          const counted: DurableStore = {
            ...store,
            replaceText: (...given) => {
              writes += 1;
              if (writes === at) stop.abort();
              return store.replaceText(...given);
            },
          };
          return { store: counted, address: place.address, lock };
        }),
      );
      const [a, b] = ends;
      if (a === undefined || b === undefined) throw new Error("no ends");
      const moved = moveState(a, b, { name: "shop", manifest: {}, clock, stopping: stop.signal });
      if (at === 1)
        await expect(moved).rejects.toMatchObject({
          ...{ code: "interrupted", exitCode: 130 },
          message: `interrupted: the state is still at ${from.address}`,
        });
      else await moved;
      for (const { lock } of ends) await lock.release();
      expect(await both(from, to)).toEqual(at === 1 ? ["whole", "state-moving"] : ["state-moved", "whole"]);
    }
  });

  it("stops where what is read back is not what was written", async () => {
    const [from, to] = [await filePlace(), await memoryPlace()];
    await begin(from);
    const store = to.open();
    const forgetful: DurableStore = {
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
    await expect(moveState(a, b, { name: "shop", manifest: {}, clock })).rejects.toMatchObject({
      code: "state-copy",
    });
    expect(await found(from)).toMatchObject({ is: "whole" });
  });
});
