import { expect } from "vitest";
import { systemClock } from "../../../src/model/clock.ts";
import { isGraphformError, shellWord } from "../../../src/model/errors.ts";
import type { StateDocument } from "../../../src/model/state.ts";
import { isEmpty } from "../../../src/state/claim-state.ts";
import { type Move, moveState } from "../../../src/state/move-state.ts";
import type { DurableStore } from "../../../src/state/store.ts";
import type { Place } from "./places.ts";

/** A write of a move, counted from 1: a process is killed before it reaches the store, or just after. */
export interface Kill {
  readonly at: number;
  readonly when: "before" | "after";
}

/** Every moment at which a move can be killed. What is stored after one write is what is stored before the next one. */
export const kills: readonly Kill[] = [
  { at: 1, when: "before" },
  ...[1, 2, 3].map((at): Kill => ({ at, when: "after" })),
];

/** Moves a state in a process of its own, which a kill ends. */
export async function move(from: Place, to: Place, kill?: Kill): Promise<Move | "killed"> {
  let writes = 0;
  const mortal = (store: DurableStore): DurableStore => ({
    ...store,
    async replaceText(text, expected) {
      writes += 1;
      if (writes === kill?.at && kill.when === "before") throw new Error("killed");
      await store.replaceText(text, expected);
      if (writes === kill?.at) throw new Error("killed");
    },
  });
  const [old, fresh] = [mortal(from.open()), mortal(to.open())];
  const clock = systemClock;
  const oldLock = await old.lock("state migrate", { clock });
  const freshLock = await fresh.lock("state migrate", { clock });
  const ends = [
    { store: old, address: from.address, lock: oldLock },
    { store: fresh, address: to.address, lock: freshLock },
  ] as const;
  const moved = await moveState(...ends, { name: "shop", manifest: {}, clock }).catch((error: Error) => {
    if (error.message === "killed") return "killed" as const;
    throw error;
  });
  if (moved === "killed") await Promise.all([from.free(), to.free()]);
  else for (const lock of [oldLock, freshLock]) await lock.release();
  await Promise.all([old.close(), fresh.close()]);
  return moved;
}

/** A run at a place: the state that it works with; else the code of its refusal, and its way out. */
export async function found(
  place: Place,
): Promise<{ readonly is: string; readonly state?: StateDocument; readonly hint?: string }> {
  const store = place.open();
  try {
    const state = await store.read();
    // A takeover of the lock writes an empty state, where there is none.
    return state === undefined || isEmpty(state) ? { is: "nothing" } : { is: "whole", state };
  } catch (error) {
    if (!isGraphformError(error)) throw error;
    const { code, hint = "" } = error;
    return { is: code, hint };
  } finally {
    await store.close();
  }
}

/** A run at each end after a kill: no two have the state, and whoever refuses names the command that goes on. */
export async function assertSafe(
  from: Place,
  to: Place,
  { at, when }: Kill,
  content: Partial<StateDocument>,
): Promise<void> {
  const [old, fresh] = [await found(from), await found(to)];
  const done = when === "after" ? at : at - 1;
  const expected = [
    ["whole"],
    ["whole", "state-moving"],
    ["state-moved", "state-moving"],
    ["state-moved", "whole"],
  ][done];
  // Nothing was written yet: what was in the new place before is still there.
  if (done === 0) expect(["nothing", "state-moved"]).toContain(fresh.is);
  expect([old.is, fresh.is].slice(0, expected?.length)).toEqual(expected);
  for (const { state } of [old, fresh]) if (state !== undefined) expect(state).toMatchObject(content);
  const command = `graphform state migrate --state ${shellWord(from.address)} --to ${shellWord(to.address)}`;
  for (const { hint } of done === 0 ? [] : [old, fresh])
    if (hint !== undefined) expect(hint).toContain(command);
}

/** The next version of what is at a place, as an apply writes it. Returns its serial. */
export async function applyAt(place: Place, fingerprint: string): Promise<number> {
  const store = place.open();
  const lock = await store.lock("apply", { clock: systemClock });
  const state = await store.read();
  if (state === undefined) throw new Error("no state");
  const { lineage, serial } = state;
  const next = { lineage, serial: serial + 1, savedAt: new Date().toISOString() };
  await store.write({ ...state, ...next, appliedPlans: [...state.appliedPlans, fingerprint] });
  await lock.release();
  await store.close();
  return next.serial;
}
