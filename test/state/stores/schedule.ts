import { expect } from "vitest";
import { whileHeld } from "../../../src/project/open-run.ts";
import { emptyState, nextVersion } from "../../../src/state/document.ts";
import type { ErroredState } from "../../../src/state/errored-file.ts";
import { matchOf, stateToPush } from "../../../src/state/errored-state.ts";
import { readState } from "../../../src/state/read-state.ts";
import { createRemoteStore } from "../../../src/state/remote/create-remote-store.ts";
import type { StateStore } from "../../../src/state/store.ts";
import { type Toys, type ToyWorld, toyWorld } from "../../support/toy-world.ts";
import { virtualClock } from "../../support/virtual-clock.ts";
import { type Machine, type Misfortune, machine, notSent } from "./machine.ts";
import { type Backend, deliver, memoryBackend, memoryDriver } from "./memory-driver.ts";

/** It is shown throughout: a service that shows nothing of what is bound leaves every lost create in doubt. */
const stays: Toys = { stays: { colour: "white" } };
const before: Toys = { ...stays, grows: { colour: "green", size: 1 }, goes: { colour: "grey" } };
const after: Toys = {
  ...stays,
  grows: { colour: "green", size: 2 },
  first: { colour: "gold" },
  second: { colour: "silver" },
  lodger: { colour: "black", home: "first" },
};

/** What became of one schedule. */
export interface Tally {
  takeovers: number;
  deaths: number;
  errored: number;
  pushed: number;
  lost: number;
  refusedWrites: number;
  /** Requests of the first process, to store and service. */
  requests: number;
}

interface Bench {
  readonly world: ToyWorld;
  readonly backend: Backend;
  readonly checksLease: boolean;
  readonly expires: boolean;
  readonly tally: Tally;
  /** Errored-state files by process. */
  readonly files: Map<string, ErroredState>;
  /** The process that has had the lock last, once it is its own: whoever had it before writes nothing any more. */
  owner: string | undefined;
  readonly owners: string[];
  readonly violations: string[];
}

/** A schedule of three processes, each perhaps stopped, killed or cut off. One seed is one schedule. */
export async function playSchedule(seed: number): Promise<Tally> {
  const { random } = virtualClock(seed * 7919 + 1);
  const traits = { checksLease: seed % 3 === 0, expires: seed % 5 > 0 };
  const world = toyWorld({ seed, listLag: 3000, work: 8000 });
  const now = world.clock.now();
  const misfortunes = Array.from({ length: 3 }, () => ({
    ...misfortune(random, now),
    begins: random() * 90_000,
  }));
  return play(world, misfortunes, traits);
}

/** One process with one misfortune, and another one that waits for the lock meanwhile. */
export async function playOne(unlucky: Omit<Misfortune, "losses">): Promise<Tally> {
  const world = toyWorld({ listLag: 3000, work: 8000 });
  const both = [
    { losses: 0, begins: 0, ...unlucky },
    { losses: 0, begins: 1000 },
  ];
  return play(world, both, { checksLease: false, expires: true });
}

/**
 * Runs processes over one shared state, with their misfortunes. Then a calm run must find nothing doubled and nothing lost.
 * `begins`: ms after the start.
 */
async function play(
  world: ToyWorld,
  misfortunes: readonly (Misfortune & { readonly begins: number })[],
  traits: Pick<Bench, "checksLease" | "expires">,
): Promise<Tally> {
  const { clock } = world;
  const tally = { takeovers: 0, deaths: 0, errored: 0, pushed: 0, lost: 0, refusedWrites: 0, requests: 0 };
  const bench: Bench = {
    ...{ world, tally, backend: memoryBackend(clock.now), ...traits },
    ...{ files: new Map(), owner: undefined, owners: [], violations: [] },
  };
  const calm = (name: string): Machine => machine(name, clock, { losses: 0 });
  const work = async (): Promise<void> => {
    await run(bench, calm("begin"), before);
    const delivering = misfortunes.some(({ dies }) => dies?.is === "late") ? undefined : deliverLate(bench);
    const names = ["one", "two", "three"];
    await Promise.all(
      misfortunes.map(async ({ begins, ...unlucky }, index) => {
        const process = machine(names[index] ?? "", clock, unlucky);
        await clock.sleep(begins);
        await process.run(() => run(bench, process, after).catch(expected));
        if (index === 0) tally.requests = process.requests();
        if (process.isDead()) tally.deaths += 1;
        // It has ended, one way or the other; the answer to its release, or the release, may be lost.
        await clearAway(bench, (operation) => operation.endsWith(process.name));
        if (!process.isDead()) await push(bench, calm(`${process.name} again`), process.name);
      }),
    );
    delivering?.abort();
    deliver(bench.backend);
    await clearAway(bench, () => true);
    await run(bench, calm("end"), after);
  };
  await clock.drive(work());
  await assertWhole(bench);
  return tally;
}

function misfortune(random: () => number, now: number): Misfortune {
  const pick = (most: number): number => 1 + Math.floor(random() * most);
  const from = now + random() * 200_000;
  return {
    losses: [0, 0, 0.05, 0.25][Math.floor(random() * 4)] ?? 0,
    ...(random() < 0.3 ? { dies: { at: pick(30), is: random() < 0.5 ? "before" : "after" } } : {}),
    ...(random() < 0.4 ? { stops: { at: pick(60), ms: 10_000 + random() * 290_000 } } : {}),
    ...(random() < 0.3 ? { outage: { from, until: from + random() * 120_000 } } : {}),
  };
}

function storeOf(bench: Bench, process: Machine): StateStore {
  const { backend, files, tally, checksLease, expires } = bench;
  const onStored = (): void => {
    const { owner, owners, violations } = bench;
    if (owner !== undefined && owner !== process.name && owners.includes(process.name))
      violations.push(`${process.name} wrote when ${owner} had the lock`);
  };
  const { fault, answered } = process;
  const driver = memoryDriver(backend, { checksLease, expires, fault, answered, onStored });
  return createRemoteStore(driver, {
    ...{ name: "toys", erroredFile: "errored", clock: process.clock },
    ...{ monotonic: process.monotonic, every: process.every },
    // The next run is on another machine: it has no file.
    errored: {
      find: async () => [],
      async write(errored) {
        if (!files.has(process.name)) tally.errored += 1;
        files.set(process.name, errored);
        return process.name;
      },
      async remove() {
        files.delete(process.name);
      },
    },
  });
}

/** What `graphform apply` does. */
async function run(bench: Bench, process: Machine, toys: Toys): Promise<void> {
  const { world, tally } = bench;
  const store = storeOf(bench, process);
  const lock = await store.lock(`apply of ${process.name}`, { clock: process.clock, timeout: 1_800_000 });
  if (bench.owner !== undefined) tally.takeovers += 1;
  bench.owner = process.name;
  bench.owners.push(process.name);
  // The worst moment for what is still on its way.
  deliver(bench.backend);
  lock.lost.addEventListener("abort", () => {
    tally.lost += 1;
  });
  const driver = process.kindDriver(
    world.service,
    async () => {
      await lock.look();
      if (!lock.lost.aborted) return;
      tally.refusedWrites += 1;
      throw notSent("write");
    },
    (operation) => {
      if (bench.owner !== process.name)
        bench.violations.push(`${process.name} sent ${operation} when ${bench.owner} had the lock`);
    },
  );
  await whileHeld(lock, async () => {
    const state = (await store.read()) ?? emptyState("toys");
    await world.begin(toys, { store, state, stopping: lock.lost, driver });
  });
  if (bench.owner === process.name) bench.owner = undefined;
}

/** What `graphform state push` does, for whoever has left a file. */
async function push(bench: Bench, process: Machine, name: string): Promise<void> {
  const errored = bench.files.get(name);
  if (errored === undefined) return;
  const store = storeOf(bench, process);
  const lock = await store.lock("state push", { clock: process.clock, timeout: 1_800_000 });
  bench.owner = process.name;
  bench.owners.push(process.name);
  await whileHeld(lock, async () => {
    const stored = await store.read();
    const next = stateToPush(errored, stored);
    if (matchOf(errored, stored, errored.where) !== "ahead" || next === undefined) return;
    bench.tally.pushed += 1;
    await store.write({ ...next, ...nextVersion(stored ?? errored.state, process.clock.now()) });
  });
  // The next one may have taken the lock before the answer to its release came.
  if (bench.owner === process.name) bench.owner = undefined;
}

/** Requests that were late come at some time. */
function deliverLate({ world, backend }: Bench): AbortController {
  const stop = new AbortController();
  const delivering = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await world.clock.sleep(1000 + 20_000 * world.clock.random(), stop.signal);
      deliver(backend);
    }
  };
  delivering().catch(() => undefined);
  return stop;
}

/** Ends of a run that had bad luck. */
function expected(error: unknown): void {
  const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
  expect(
    ["state-unreachable", "lock-lost", "state-conflict", "state-not-fenced", "locked"],
    String(error),
  ).toContain(code);
}

/** Removes the lock of a process that is surely gone, where it would stand for ever. */
async function clearAway(bench: Bench, isGone: (operation: string) => boolean): Promise<void> {
  const { backend, expires, world } = bench;
  const { id, operation = "" } = backend.lock?.holder ?? {};
  if (expires || id === undefined || !isGone(operation)) return;
  await storeOf(bench, machine("a person", world.clock, { losses: 0 })).unlock(id);
}

async function assertWhole({ world, backend, violations }: Bench): Promise<void> {
  expect(violations).toEqual([]);
  const documents = backend.stored.map((text) => readState(text, "stored", "toys"));
  expect(documents.map(({ serial }) => serial)).toEqual(
    documents.map(({ serial }) => serial).sort((a, b) => a - b),
  );
  const last = documents.at(-1);
  const bound = Object.values(last?.resources ?? {}).map(({ id }) => id);
  expect(bound.sort()).toEqual(
    world.service
      .all()
      .map(({ id }) => id)
      .sort(),
  );
  expect(Object.keys(last?.resources ?? {}).sort()).toEqual(
    Object.keys(after)
      .map((name) => `toys.${name}`)
      .sort(),
  );
  expect(last?.intents).toEqual({});
  expect(backend.lock).toBeUndefined();
}
