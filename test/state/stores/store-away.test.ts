import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/model/clock.ts";
import type { StateDocument } from "../../../src/model/state.ts";
import { whileHeld } from "../../../src/project/open-run.ts";
import { emptyState, nextVersion } from "../../../src/state/document.ts";
import {
  type ErroredFiles,
  type ErroredState,
  erroredText,
  openErroredFiles,
  readErroredState,
} from "../../../src/state/errored-file.ts";
import { matchOf, stateToPush } from "../../../src/state/errored-state.ts";
import { openJournal } from "../../../src/state/journal.ts";
import { readState } from "../../../src/state/read-state.ts";
import { createRemoteStore } from "../../../src/state/remote/create-remote-store.ts";
import { openUnstored } from "../../../src/state/remote/unstored.ts";
import type { StateStore } from "../../../src/state/store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { type Toys, type ToyWorld, toyWorld } from "../../support/toy-world.ts";
import { sampleBound, sampleIntent, sampleRound, sampleState } from "../samples.ts";
import { type Faults, faultyDriver } from "./faulty-driver.ts";
import { type Backend, memoryBackend, memoryDriver } from "./memory-driver.ts";

const toys: Toys = Object.fromEntries(
  Array.from({ length: 20 }, (_, index) => [`t${index}`, { colour: `colour ${index}`, size: index }]),
);

interface Bench {
  readonly world: ToyWorld;
  readonly backend: Backend;
  /** The file of this folder, as it was written last. */
  errored(): ErroredState | undefined;
  /** Opens the state as a process of its own; `folder` another one than that of the first run. */
  open(folder?: "here" | "elsewhere"): { readonly store: StateStore; readonly faults: Faults };
}

function bench(): Bench {
  const world = toyWorld({ listLag: 2000 });
  const { clock } = world;
  const backend = memoryBackend(clock.now);
  const here = filesInMemory();
  const open: Bench["open"] = (folder = "here") => {
    const { driver, faults } = faultyDriver(memoryDriver(backend));
    const store = createRemoteStore(driver, {
      ...{ name: "toys", erroredFile: "errored", clock, monotonic: clock.now, every: () => () => undefined },
      errored: folder === "here" ? here : { ...here, find: async () => [] },
    });
    return { store, faults };
  };
  return { world, backend, errored: here.kept, open };
}

/** The files of one folder, and the one that is there. */
function filesInMemory(): ErroredFiles & { kept(): ErroredState | undefined } {
  let errored: ErroredState | undefined;
  return {
    kept: () => errored,
    find: async () => (errored === undefined ? [] : [{ path: "errored", content: errored }]),
    async write(state) {
      errored = readErroredState(erroredText(state), "errored", state.state.name);
      return "errored";
    },
    async remove() {
      errored = undefined;
    },
  };
}

/** What `graphform apply` does. `atWrite`: the store is away from that write of the state on. */
async function apply(
  { world, open }: Bench,
  atWrite = Number.POSITIVE_INFINITY,
  folder: "here" | "elsewhere" = "here",
): Promise<number> {
  const { store, faults } = open(folder);
  const lock = await store.lock("apply", { clock: world.clock, timeout: 300_000 });
  let goneAt = Number.POSITIVE_INFINITY;
  lock.lost.addEventListener("abort", () => {
    goneAt = world.clock.now();
  });
  const counted: StateStore["append"] = async (version) => {
    if (version.serial >= atWrite) faults.away(true);
    return store.append(version);
  };
  await whileHeld(lock, async () => {
    const state = (await store.read()) ?? emptyState("toys");
    await world.begin(toys, { store: { ...store, append: counted }, state, stopping: lock.lost });
  }).catch((error: unknown) => {
    expect(error).toMatchObject({ code: "state-unreachable", exitCode: 1 });
    expect(goneAt).not.toBe(Number.POSITIVE_INFINITY);
  });
  return goneAt;
}

/** What `graphform state push` does. False where the file is not stored. */
async function push({ world, open }: Bench, errored: ErroredState): Promise<boolean> {
  const { store } = open();
  const lock = await store.lock("state push", { clock: world.clock, timeout: 300_000, isPush: true });
  return whileHeld(lock, async () => {
    const stored = await store.read();
    const next = stateToPush(errored, stored);
    if (matchOf(errored, stored, errored.where) !== "ahead" || next === undefined) return false;
    await store.write({ ...next, ...nextVersion(stored ?? errored.state, world.clock.now()) });
    return true;
  });
}

async function expectWhole({ world, open }: Bench): Promise<void> {
  const state = await open().store.read();
  const ids = world.service.all().map(({ id }) => id);
  expect(ids).toHaveLength(20);
  expect(new Set(Object.values(state?.resources ?? {}).map(({ id }) => id))).toEqual(new Set(ids));
  expect(state?.intents).toEqual({});
}

describe("a store that goes away in the middle of an apply of 20", () => {
  it.each([2, 3, 9, 21, 22, 30, 41, 50, 61])(
    "from version %i on: nothing new is begun, what happened is kept, and the next apply finishes",
    async (atWrite) => {
      const all = bench();
      const { world, errored } = all;
      const goneAt = await world.drive(apply(all, atWrite));
      expect(goneAt).toBeLessThan(world.clock.now() + 1);
      expect(world.service.writes().filter(({ at }) => at > goneAt)).toEqual([]);
      // What was begun before is known, with its id: in the file, or already in the store.
      const kept = errored()?.state ?? (await world.drive(all.open().store.read()));
      const known = new Set(Object.values(kept?.resources ?? {}).map(({ id }) => id));
      const made = world.service.all().map(({ id }) => id);
      expect(made.filter((id) => !known.has(id))).toEqual([]);
      const file = errored();
      if (file !== undefined) {
        const refused = world.drive(apply(all));
        await expect(refused).rejects.toMatchObject({ code: "state-unpushed", exitCode: 1 });
        expect(await world.drive(push(all, file))).toBe(true);
      }
      await world.drive(apply(all));
      await world.drive(expectWhole(all));
      // It was pushed: the file is not needed, and is gone.
      expect(errored()).toBeUndefined();
    },
  );

  it("finishes also on another machine, which has no file; the file has nothing new then, and goes", async () => {
    const all = bench();
    const { world, errored } = all;
    await world.drive(apply(all, 30));
    const left = errored();
    if (left === undefined) throw new Error("nothing was kept");
    expect(left.created).not.toEqual([]);
    expect(left.state).not.toHaveProperty("key");
    await world.drive(apply(all, undefined, "elsewhere"));
    await world.drive(expectWhole(all));
    expect(await world.drive(push(all, left))).toBe(false);
    await world.drive(apply(all));
    expect(errored()).toBeUndefined();
    await world.drive(expectWhole(all));
  });

  it("is refused here until it is pushed; a plan counts in what the file says", async () => {
    const all = bench();
    const { world, errored, open } = all;
    await world.drive(apply(all, 30));
    const { store } = open();
    const [{ address, id } = { address: "", id: "" }] = errored()?.created ?? [];
    const found = await world.drive(store.unpushed?.() ?? Promise.resolve(undefined));
    expect(found?.refusal.message).toContain(`${address} is ${id}`);
    expect(found?.refusal.hint).toContain("graphform state push errored");
    expect(found?.state?.resources[address]?.id).toBe(id);
    const stored = await world.drive(store.read());
    expect(stored?.resources[address]).toBeUndefined();
    expect(found?.state?.serial).toBeGreaterThan(stored?.serial ?? 0);
    expect(found?.state?.key).toBe(stored?.key);
  });

  it("is refused where somebody has written since and does not know what was made", async () => {
    const all = bench();
    const { world, errored, open } = all;
    await world.drive(apply(all, 30));
    const left = errored();
    const other = async (): Promise<void> => {
      const { store } = open("elsewhere");
      const lock = await store.lock("state rm", { clock: world.clock, timeout: 300_000 });
      const stored = await store.read();
      if (stored === undefined) throw new Error("nothing is stored");
      const next = nextVersion(stored, world.clock.now());
      await store.write({ ...stored, ...next, intents: {}, rounds: {} });
      await lock.release();
    };
    await world.drive(other());
    const [{ address, id } = { address: "", id: "" }] = left?.created ?? [];
    await expect(world.drive(apply(all))).rejects.toMatchObject({
      code: "state-unpushed",
      message: expect.stringContaining(`was written to since without it: ${address} is ${id}`),
      hint: expect.stringContaining("mv errored errored.old, and bind"),
    });
    expect(errored()).toEqual(left);
  });
});

const acknowledged = {
  type: "create-acknowledged",
  address: "instances.orders",
  id: "instance-77",
  createdAt: "2026-01-01T00:00:00.000Z",
  converging: { operation: "create", since: "2026-01-01T00:00:00.000Z", record: {} },
} as const;

describe("a run that is interrupted twice while its store does not answer", () => {
  /** A run that has two events to store, under a lock that never ends by itself. */
  async function hurried() {
    const backend = memoryBackend(() => 0);
    const memory = memoryDriver(backend, { expires: false });
    const answer = Promise.withResolvers<void>();
    let answers = Promise.resolve();
    const files = filesInMemory();
    const beats: (() => void)[] = [];
    const store = createRemoteStore(
      {
        ...memory,
        write: async (...given) => answers.then(() => memory.write(...given)),
        renew: async (...given) => answers.then(() => memory.renew(...given)),
        release: async (...given) => answers.then(() => memory.release(...given)),
      },
      {
        ...{ name: "shop", erroredFile: "errored", errored: files },
        every(_, beat) {
          beats.push(beat);
          return () => undefined;
        },
      },
    );
    const [warnings, twice] = [[] as string[], new AbortController()];
    const lock = await store.lock("apply", {
      ...{ clock: systemClock, hurrying: twice.signal },
      warn: (message) => warnings.push(message),
    });
    const journal = openJournal(store, (await store.read()) ?? emptyState("shop"), systemClock);
    const intent = sampleIntent({ refs: [] });
    await journal.record({
      type: "create-announced",
      address: "instances.orders",
      intent,
      listed: sampleRound,
    });
    answers = answer.promise;
    const recording = [journal.record(acknowledged)];
    twice.abort();
    await vi.waitFor(() => expect(files.kept()?.state.resources).toHaveProperty(["instances.orders"]));
    recording.push(journal.record({ type: "bound", address: "instances.b", bound: sampleBound("b-1") }));
    await vi.waitFor(() => expect(files.kept()?.state.resources).toHaveProperty(["instances.b"]));
    return { backend, lock, files, warnings, recording, answer: answer.resolve, passTime: beats.at(-1) };
  }

  it("keeps everything in a file at once, ends 5 s later, and can push it after a write that arrives late", async () => {
    const { backend, lock, files, warnings, recording, answer, passTime } = await hurried();
    passTime?.();
    await Promise.all(recording);
    await expect(lock.finish()).rejects.toMatchObject({
      code: "state-unreachable",
      hint: expect.stringContaining("graphform state push errored"),
    });
    await lock.release();
    expect(warnings.at(-1)).toMatch(/may be left standing .*second interrupt.*graphform state unlock/);
    answer();
    await new Promise((resolve) => setImmediate(resolve));
    const stored = readState(backend.document?.text ?? "", "memory://shop", "shop");
    expect(Object.keys(stored.resources)).toEqual(["instances.orders"]);
    const kept = files.kept();
    expect(kept && matchOf(kept, stored, "memory://shop")).toBe("ahead");
  });

  it("stores everything where the store answers within that time, and keeps no file", async () => {
    const { backend, lock, files, warnings, recording, answer } = await hurried();
    answer();
    await Promise.all(recording);
    await lock.finish();
    await lock.release();
    expect(warnings).toEqual([]);
    expect(files.kept()).toBeUndefined();
    expect(backend.lock).toBeUndefined();
    const { resources } = readState(backend.document?.text ?? "", "memory://shop", "shop");
    expect(Object.keys(resources).sort()).toEqual(["instances.b", "instances.orders"]);
  });
});

describe("the file for what could not be stored", () => {
  const away = new Error("the store is away");
  const made = (): StateDocument => {
    const state = sampleState();
    return { ...state, resources: { ...state.resources, "instances.orders": sampleBound("instance-77") } };
  };
  const run = { where: "s3://bucket/shop", view: made, stored: sampleState, possible: () => [undefined] };
  const keep = async (file: string): Promise<Error> => {
    const unstored = openUnstored(run, openErroredFiles(file, "shop"));
    unstored.add(acknowledged);
    return unstored.keep(away, undefined);
  };

  it("goes to the folder for temporary files where it cannot be written beside the manifest", async () => {
    const folder = temporaryFolder("state");
    const [file, temporary] = [join(folder, "file"), join(folder, "tmp")];
    await writeFile(file, "");
    await mkdir(temporary);
    vi.stubEnv("TMPDIR", temporary);
    const error = await keep(join(file, "shop.errored.state.json"));
    const [name = ""] = await readdir(temporary);
    expect(error).toMatchObject({ hint: expect.stringContaining(join(temporary, name)) });
    expect((await stat(join(temporary, name))).mode & 0o777).toBe(0o600);
    const { state, follows } = readErroredState(await readFile(join(temporary, name), "utf8"), name, "shop");
    expect(state).toEqual(made());
    expect(follows).toEqual([null]);
  });

  it("is replaced by the ids in the message where no file can be written", async () => {
    const file = join(temporaryFolder("state"), "file");
    await writeFile(file, "");
    vi.stubEnv("TMPDIR", join(file, "tmp"));
    expect(await keep(join(file, "shop.errored.state.json"))).toMatchObject({
      exitCode: 1,
      hint: expect.stringContaining("note what was created: instances.orders is instance-77"),
    });
  });

  it("is refused where it is something else", async () => {
    expect(() => readErroredState("{", "x")).toThrow("x is not a state that a run could not store");
    expect(() => readErroredState(JSON.stringify(sampleState()), "x")).toThrow("x is not a state");
  });
});
