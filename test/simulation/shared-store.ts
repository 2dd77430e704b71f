import type { Clock } from "../../src/model/clock.ts";
import { isGraphformError } from "../../src/model/errors.ts";
import { whileHeld } from "../../src/project/open-run.ts";
import type { ErroredFiles } from "../../src/state/errored-file.ts";
import { pushErrored } from "../../src/state/errored-state.ts";
import { readState } from "../../src/state/read-state.ts";
import { createRemoteStore } from "../../src/state/remote/create-remote-store.ts";
import type { StateDriver } from "../../src/state/remote/driver.ts";
import type { DurableStore } from "../../src/state/store.ts";
import { deliver, type Fault, memoryDriver, type Request } from "../state/stores/memory-driver.ts";
import type { Oracle } from "./oracle.ts";
import { type Proc, proc } from "./proc.ts";
import type { Life, Schedule } from "./schedule.ts";
import type { Shared } from "./shared.ts";
import { isThere } from "./thing.ts";
import type { World } from "./world.ts";

/** The longest wait for the lock of a dead run, in ms: its lease has surely run out by then. */
export const leaseEnds = 200_000;

/** The real store of a shared state, as one process reaches it: requests and answers travel, and may be lost. */
export function openShared(
  process: Proc,
  shared: Shared,
  clock: Clock,
  world: World,
  oracle: Oracle,
): DurableStore {
  const { schedule, dice } = world;
  const travel = (owner: Life): Promise<void> =>
    new Promise((resolve) => schedule.after(dice.next() * 40, owner, resolve));

  const fault = async (request: Request): Promise<Fault | undefined> => {
    // What is on its way as its sender dies may arrive, soon or late.
    await travel(dice.is(0.5) ? process : world.service);
    const isLeft = process.dead && dice.is(0.5);
    const isAway = schedule.now() < process.awayUntil;
    const isFaulty = isAway || (request === "write" && process.takeFault("state") !== undefined);
    const ways: readonly Fault[] = ["before", "after", "late", "late"];
    const effect = isLeft ? "late" : isFaulty ? dice.of(ways) : undefined;
    if (effect === "late")
      schedule.after(dice.scale(30_000, 1_000_000), world.service, () => deliver(shared.backend));
    world.tell(`${process.name} store: ${request} ${effect ?? ""}`);
    return effect;
  };
  const onStored = (text: string): void => {
    const next = readState(text, "simulated", "simulated");
    const { owner } = shared;
    // After a lock that was given back a late write may arrive: whoever has read before it is refused, and sends nothing.
    if (owner?.tookOver === true && owner !== process && process.hadLock)
      oracle.violate("write without the lock", `${process.name} wrote when ${owner.name} had the lock`);
    world.tell(`${process.name} == state ${next.serial}`);
    oracle.stores(process, next);
  };
  const answered = (): Promise<void> => travel(process);
  const memory = memoryDriver(shared.backend, { ...shared.options, fault, answered, onStored });
  const driver: StateDriver = {
    ...memory,
    async take(holder) {
      const taken = await memory.take(holder);
      if (taken.is === "taken" && taken.over !== undefined) process.tookOver = true;
      return taken;
    },
  };
  return createRemoteStore(driver, {
    ...{ name: "simulated", erroredFile: "errored", clock, monotonic: schedule.now },
    every: (ms, beat) => every(ms, beat, process, schedule),
    errored: erroredFileOf(process, shared, world),
  });
}

/** The one file of the folder that all these processes start from. */
function erroredFileOf(process: Proc, shared: Shared, world: World): ErroredFiles {
  return {
    find: async () =>
      shared.errored === undefined ? [] : [{ path: "errored", content: shared.errored.state }],
    async write(state) {
      world.tell(`${process.name} leaves version ${state.state.serial} in a file`);
      shared.errored = { by: process, state };
      return "errored";
    },
    async remove() {
      shared.errored = undefined;
    },
  };
}

/** Calls `beat` until the result is called, or the process is dead. */
function every(ms: number, beat: () => void, process: Proc, schedule: Schedule): () => void {
  let isOver = false;
  const next = (): void => {
    if (isOver) return;
    beat();
    schedule.after(ms, process, next);
  };
  schedule.after(ms, process, next);
  return () => {
    isOver = true;
  };
}

/** The process has the lock from now on: whoever had it before writes nothing any more, nor does what arrives only now. */
export function begins(process: Proc, shared: Shared, { dice }: World): void {
  shared.owner = process;
  process.hadLock = true;
  if (dice.is(0.7)) deliver(shared.backend);
}

/** `graphform state push`: puts the errored state back, or, where the store has gone on without it, the file is moved away. */
export async function push(
  shared: Shared,
  clockOf: (process: Proc) => Clock,
  world: World,
  oracle: Oracle,
): Promise<void> {
  const { errored } = shared;
  if (errored === undefined) return;
  const process = proc(`push of ${errored.by.name}`, errored.by.run, [], world.schedule.now());
  Object.assign(process, { phase: "applying", plan: errored.by.plan });
  const clock = clockOf(process);
  const store = openShared(process, shared, clock, world, oracle);
  const lock = await store.lock("state push", { clock, timeout: leaseEnds, isPush: true });
  begins(process, shared, world);
  await whileHeld(lock, async () => {
    const given = { errored: errored.state, file: "errored", name: "simulated", manifest: {}, clock };
    await pushErrored(store, given).catch((error: unknown) => {
      if (!isGraphformError(error) || error.code !== "push-refused") throw error;
    });
  });
  shared.owner = undefined;
  shared.errored = undefined;
}

/** What was created, and known to be, is bound in the store or in the file that was left (or is gone by now). */
export function checkKept(process: Proc, shared: Shared, world: World, oracle: Oracle): void {
  const left = shared.errored?.by === process ? shared.errored.state.state.resources : {};
  const bound = [...Object.values(world.stored?.resources ?? {}), ...Object.values(left)];
  for (const id of process.acknowledged) {
    const thing = world.registry.at(id);
    const isKnown = bound.some((entry) => entry.id === id);
    if (!isKnown && thing?.ours === true && isThere(thing))
      oracle.violate("forgotten", `${process.name} knew of ${id}, and neither the store nor a file does`);
  }
}
