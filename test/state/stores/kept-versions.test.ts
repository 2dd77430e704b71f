import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/model/clock.ts";
import { GraphformError } from "../../../src/model/errors.ts";
import type { StateDocument } from "../../../src/model/state.ts";
import { emptyState, stateFormatter } from "../../../src/state/document.ts";
import { createRemoteStore } from "../../../src/state/remote/create-remote-store.ts";
import type { StateDriver } from "../../../src/state/remote/driver.ts";
import type { DurableStore } from "../../../src/state/store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { sampleState } from "../samples.ts";
import { type Backend, memoryBackend, memoryDriver } from "./memory-driver.ts";

const textOf = stateFormatter();
const version = (serial: number, over: Partial<StateDocument> = {}): StateDocument => ({
  ...sampleState(),
  ...over,
  serial,
});

interface Bench {
  readonly backend: Backend;
  readonly store: DurableStore;
  /** Puts a document in place, past graphform. */
  put(state: StateDocument | undefined): void;
}

/** A store that has kept versions 1 to 3 of a state. */
async function bench(over: Partial<StateDriver> = {}): Promise<Bench> {
  const backend = memoryBackend(() => Date.now());
  const erroredFile = join(temporaryFolder("state"), "errored.json");
  const driver = { ...memoryDriver(backend, { keeps: true }), ...over };
  const store = createRemoteStore(driver, { name: "shop", erroredFile });
  const put = (state: StateDocument | undefined): void => {
    backend.last += 1;
    if (state === undefined) backend.document = undefined;
    else {
      backend.document = { text: textOf(state), version: backend.last };
      backend.stored.push(textOf(state));
    }
  };
  for (const serial of [1, 2, 3]) put(version(serial));
  return { backend, store, put };
}

describe("a store that keeps versions", () => {
  it("is read where the stored document is the newest one", async () => {
    const { store } = await bench();
    expect((await store.read())?.serial).toBe(3);
  });

  it("that has lost its document is refused, with the version to put back, and the way to begin anew", async () => {
    const { store, put } = await bench();
    put(undefined);
    await expect(store.read()).rejects.toMatchObject({
      code: "state-gone",
      message: expect.stringContaining("still has version 3"),
      hint: expect.stringMatching(/state restore 2;.*graphform state restore none/),
    });
  });

  it("is refused too where a takeover has written an empty state in place of the lost document", async () => {
    const { store, put } = await bench();
    put({ ...emptyState("shop"), serial: 1 });
    await expect(store.read()).rejects.toMatchObject({ code: "state-gone" });
    put({ ...emptyState("shop"), serial: 4 });
    expect((await store.read())?.serial).toBe(4);
  });

  it("is refused where an older copy was put in place of the newest one", async () => {
    const { store, put } = await bench();
    put(version(2));
    await expect(store.read()).rejects.toMatchObject({
      code: "state-older",
      message: expect.stringMatching(/is at version 2, and the store still has version 3/),
      hint: expect.stringMatching(/state restore 2;.*state restore current/),
    });
  });

  it("is read where the higher versions are those of another history", async () => {
    const { store, put } = await bench();
    put(version(2, { lineage: "another" }));
    expect((await store.read())?.serial).toBe(2);
  });

  it("is read once more where somebody writes between the two looks", async () => {
    const { backend, put } = await bench();
    const memory = memoryDriver(backend, { keeps: true });
    let looks = 0;
    const history: StateDriver["history"] = async (limit) => {
      looks += 1;
      if (looks === 1) put(version(4));
      return memory.history(limit);
    };
    const erroredFile = join(temporaryFolder("state"), "errored.json");
    const store = createRemoteStore({ ...memory, history }, { name: "shop", erroredFile });
    expect((await store.read())?.serial).toBe(4);
  });

  it.each(["state-denied", "state-unsuitable"])(
    "is read where it shows its versions to nobody: %s",
    async (code) => {
      const history = async (): Promise<never> => {
        throw new GraphformError(code, "no right to list versions");
      };
      const { store, put } = await bench({ history });
      put(undefined);
      expect(await store.read()).toBeUndefined();
    },
  );

  it("takes a restored version as the newest one, under the lock", async () => {
    const { store, put } = await bench();
    put(version(2));
    const lock = await store.lock("state restore", { clock: systemClock });
    const current = await store.readText();
    await store.replaceText(textOf(version(4)), current?.version);
    await lock.release();
    expect((await store.read())?.serial).toBe(4);
  });
});
