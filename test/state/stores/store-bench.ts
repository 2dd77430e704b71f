import { join } from "node:path";
import { type Clock, systemClock } from "../../../src/model/clock.ts";
import { createRemoteStore } from "../../../src/state/remote/create-remote-store.ts";
import type { StateDriver } from "../../../src/state/remote/driver.ts";
import type { StateStore } from "../../../src/state/store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { type Faults, faultyDriver } from "./faulty-driver.ts";

/** Real time, in which waiting takes a fiftieth. */
export const hurriedClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms / 50, signal),
};

/** A state as one process has it open. */
export interface Opened {
  readonly store: StateStore;
  /** Undefined where nothing is between the store and what it is stored in. */
  readonly faults: Faults | undefined;
  /** The clock of this process. */
  readonly clock: Clock;
  /** Lets the clocks of this process go on, as after a stop of so many ms. */
  wake(ms: number): void;
}

/** One empty place for a state called "shop", and what tests may do to it. */
export interface StoreBench {
  /** Opens it as another process would. */
  open(): Opened;
  /** Puts any text in place of the stored document, past the store. */
  put(text: string): Promise<void>;
  /** The text that is stored now. */
  text(): Promise<string | undefined>;
  /** Lets the lease of the lock run out by the store's clock. Undefined where locks do not end with time. */
  readonly expire: (() => Promise<void>) | undefined;
  /** Opens it with wrong credentials; undefined where there are none. */
  readonly openDenied: (() => Opened) | undefined;
  /** Opens it with credentials that may read and not lock; undefined where there are none. */
  readonly openWithoutLock: (() => Opened) | undefined;
  /** False where a lock shows its id, its holder's name and its time alone, as GitLab's do. */
  readonly showsOperation?: boolean;
  /** Local file for what cannot be stored; undefined for stores that have none. */
  readonly erroredFile: string | undefined;
}

/** The parts of a bench over a driver. Each call of a function makes a driver of its own, over the same stored state. */
export interface DriverBench {
  readonly driver: () => StateDriver;
  /** Makes the lease of the lock run out; undefined where locks do not expire. */
  readonly expire?: () => Promise<void>;
  readonly denied?: () => StateDriver;
  readonly withoutLock?: () => StateDriver;
  /** Puts a text in place of the stored one; default: through a driver, under a lock. */
  readonly put?: (text: string) => Promise<void>;
}

/** A bench over a driver: faults and clocks are those of the tests, what is stored is the driver's. */
export async function driverBench(parts: DriverBench): Promise<StoreBench> {
  const erroredFile = join(temporaryFolder("state"), "shop.errored.state.json");
  const openWith = (real: StateDriver): Opened => {
    const { driver, faults } = faultyDriver(real);
    let slept = 0;
    const clock = { ...hurriedClock, now: () => hurriedClock.now() + slept };
    const store = createRemoteStore(driver, {
      name: "shop",
      erroredFile,
      clock,
      monotonic: () => performance.now() + slept,
      every: () => () => undefined,
    });
    const wake = (ms: number): void => {
      slept += ms;
    };
    return { store, faults, clock, wake };
  };
  const { driver, denied, withoutLock, expire } = parts;
  const putUnderLock = async (text: string): Promise<void> => {
    const writer = driver();
    const now = new Date().toISOString();
    const expires = new Date(Date.now() + 60_000).toISOString();
    const holder = {
      who: "test@here",
      pid: 1,
      host: "here",
      operation: "put",
      created: now,
      heartbeat: now,
      expires,
    };
    const taken = await writer.take({ ...holder, id: "00000000deadbeef" });
    if (taken.is !== "taken") throw new Error("somebody has the lock");
    await writer.write(text, (await writer.read())?.version, taken.lease);
    await writer.release(taken.lease);
    await writer.close();
  };
  return {
    open: () => openWith(driver()),
    put: parts.put ?? putUnderLock,
    text: async () => (await driver().read())?.text,
    expire,
    openDenied: denied && (() => openWith(denied())),
    openWithoutLock: withoutLock && (() => openWith(withoutLock())),
    erroredFile,
  };
}
