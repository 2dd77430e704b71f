import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/model/clock.ts";
import type { StateDocument } from "../../../src/model/state.ts";
import { readErroredState } from "../../../src/state/errored-file.ts";
import { matchOf } from "../../../src/state/errored-state.ts";
import { openJournal } from "../../../src/state/journal.ts";
import { readState } from "../../../src/state/read-state.ts";
import { createRemoteStore } from "../../../src/state/remote/create-remote-store.ts";
import type { StateStore } from "../../../src/state/store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { sampleBound, sampleState } from "../samples.ts";
import { type Backend, type Fault, memoryBackend, memoryDriver, type Request } from "./memory-driver.ts";

const first = sampleState();

interface Bench {
  readonly clock: Clock;
  readonly backend: Backend;
  readonly erroredFile: string;
  readonly faults: [Request, Fault][];
  readonly store: StateStore;
}

/** Waits take no time. */
function jumpingClock(): Clock {
  let now = Date.UTC(2026, 0, 1);
  return {
    now: () => now,
    random: () => 0.5,
    sleep: async (ms) => {
      now += ms;
    },
  };
}

async function bench(): Promise<Bench> {
  const clock = jumpingClock();
  const backend = memoryBackend(clock.now);
  const faults: [Request, Fault][] = [];
  const erroredFile = join(temporaryFolder("state"), "shop.errored.state.json");
  const fault = (request: Request): Fault | undefined => {
    const index = faults.findIndex(([name]) => name === request);
    return index < 0 ? undefined : faults.splice(index, 1)[0]?.[1];
  };
  const store = createRemoteStore(memoryDriver(backend, { fault }), {
    name: "shop",
    erroredFile,
    clock,
    monotonic: clock.now,
    every: () => () => undefined,
  });
  return { clock, backend, erroredFile, faults, store };
}

describe("a remote store", () => {
  it.each<[string, [Request, Fault][]]>([
    ["was done", [["write", "after"]]],
    ["never came", [["write", "before"]]],
    ["comes after the next attempt", [["write", "late"]]],
    [
      "was done, as was the next one",
      [
        ["write", "after"],
        ["read", "before"],
        ["read", "after"],
      ],
    ],
  ])("stores a version once where the answer is lost and the write %s", async (_, faults) => {
    const { clock, backend, store, faults: list } = await bench();
    const lock = await store.lock("apply", { clock });
    expect(await store.read()).toBeUndefined();
    list.push(...faults);
    await store.write(first);
    expect(list).toEqual([]);
    await lock.finish();
    await lock.release();
    expect(backend.stored).toHaveLength(1);
    expect(readState(backend.stored[0] ?? "", "x", "shop")).toEqual(first);
    expect(backend.lock).toBeUndefined();
  });

  it("keeps what happened in a file where the store is away at the end, and says how to put it back", async () => {
    const { clock, backend, store, faults, erroredFile } = await bench();
    const lock = await store.lock("apply", { clock });
    const journal = openJournal(store, first, clock);
    await store.read();
    await store.write(first);
    const next = openJournal(store, first, clock);
    await next.record({ type: "plan-applied", fingerprint: "p1" });
    for (let count = 0; count < 50; count += 1) faults.push(["write", "before"]);
    await next.record({ type: "bound", address: "instances.made", bound: sampleBound("instance-made") });
    expect(lock.lost.aborted).toBe(true);
    await expect(next.record({ type: "plan-applied", fingerprint: "p2" })).rejects.toMatchObject({
      code: "state-unreachable",
    });
    await expect(lock.finish()).rejects.toMatchObject({
      code: "state-unreachable",
      exitCode: 1,
      hint: expect.stringContaining(`graphform state push ${erroredFile}`),
    });
    await lock.release();
    expect(journal.state.serial).toBe(1);
    expect((await stat(erroredFile)).mode & 0o777).toBe(0o600);
    const errored = readErroredState(await readFile(erroredFile, "utf8"), erroredFile, "shop");
    expect(errored.state.resources["instances.made"]?.id).toBe("instance-made");
    const stored = readState(backend.document?.text ?? "", "x", "shop");
    expect(stored.serial).toBe(2);
    const { where } = store;
    const made = { ...errored, created: [{ address: "instances.made", id: "instance-made" }] };
    const standing = (current: StateDocument | undefined): string => matchOf(made, current, where);
    expect(standing(stored)).toBe("ahead");
    expect(standing({ ...stored, serial: 3, savedAt: "2026-02-02T00:00:00.000Z" })).toBe("ahead");
    expect(standing({ ...stored, appliedPlans: [] })).toBe("stale");
    expect(standing({ ...stored, lineage: "another" })).toBe("stale");
    expect(standing(undefined)).toBe("stale");
    expect(standing({ ...stored, ...made.state })).toBe("current");
    expect(standing({ ...stored, appliedPlans: [], resources: made.state.resources })).toBe("current");
    // Two states of one manifest: each has its own runs.
    expect(matchOf(made, undefined, "s3://another")).toBe("elsewhere");
    expect(matchOf(made, { ...stored, lineage: "another" }, "s3://another")).toBe("elsewhere");
  });
});
