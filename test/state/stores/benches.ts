import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isFileError } from "../../../src/files/file-trouble.ts";
import { createFileStore } from "../../../src/state/file-store.ts";
import { createMemoryStore } from "../../support/memory-store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { httpBench } from "./http-benches.ts";
import { type MemoryDriverOptions, memoryBackend, memoryDriver } from "./memory-driver.ts";
import { postgresBench } from "./postgres-bench.ts";
import { s3Bench } from "./s3-bench.ts";
import { driverBench, hurriedClock, type StoreBench } from "./store-bench.ts";

/** A store that the suite is played on. */
export interface SuiteStore {
  readonly name: string;
  /** Makes an empty place of its own for each case. */
  readonly start: () => Promise<StoreBench>;
  /** Cases that it cannot play by its nature, each with its reason in the case. */
  readonly instead: number;
}

/** Every store that the suite is played on. One line makes another one join. */
export const stores: readonly SuiteStore[] = [
  { name: "file", start: fileBench, instead: 21 },
  { name: "memory", start: memoryBench, instead: 23 },
  { name: "remote, writes check the lease", start: () => remoteBench({ checksLease: true }), instead: 0 },
  { name: "remote, writes compare versions alone", start: () => remoteBench({}), instead: 0 },
  { name: "remote, locks do not expire", start: () => remoteBench({ expires: false }), instead: 4 },
  { name: "http, plain", start: () => httpBench("plain"), instead: 4 },
  {
    name: "http, plain, stores whoever has the lock",
    start: () => httpBench("plain", { ignoresLock: true }),
    instead: 4,
  },
  { name: "http, gitlab", start: () => httpBench("gitlab"), instead: 4 },
  { name: "http, gitea", start: () => httpBench("gitea"), instead: 4 },
  { name: "s3", start: s3Bench, instead: 0 },
  { name: "postgres", start: () => postgresBench("direct"), instead: 0 },
  { name: "postgres, by way of PgBouncer", start: () => postgresBench("pgbouncer"), instead: 0 },
];

async function fileBench(): Promise<StoreBench> {
  const path = join(temporaryFolder("state"), "a", "shop.state.json");
  const open = (): ReturnType<StoreBench["open"]> => {
    let slept = 0;
    return {
      store: createFileStore({ path, name: "shop" }),
      faults: undefined,
      clock: { ...hurriedClock, now: () => hurriedClock.now() + slept },
      wake(ms) {
        slept += ms;
      },
    };
  };
  return {
    open,
    put: (text) => writeFile(path, text),
    text: () =>
      readFile(path, "utf8").catch((error: unknown) => {
        if (isFileError(error, "ENOENT")) return undefined;
        throw error;
      }),
    expire: undefined,
    openDenied: undefined,
    openWithoutLock: undefined,
    erroredFile: undefined,
  };
}

async function memoryBench(): Promise<StoreBench> {
  const store = createMemoryStore();
  return {
    open: () => ({ store, faults: undefined, clock: hurriedClock, wake: () => undefined }),
    put: async () => undefined,
    text: async () => JSON.stringify(await store.read()),
    expire: undefined,
    openDenied: undefined,
    openWithoutLock: undefined,
    erroredFile: undefined,
  };
}

async function remoteBench(options: MemoryDriverOptions): Promise<StoreBench> {
  let passed = 0;
  const backend = memoryBackend(() => Date.now() + passed);
  const { expires = true } = options;
  return driverBench({
    driver: () => memoryDriver(backend, options),
    denied: () => memoryDriver(backend, { ...options, fault: () => "denied" }),
    withoutLock: () =>
      memoryDriver(backend, { ...options, fault: (name) => (name === "take" ? "denied" : undefined) }),
    ...(expires
      ? {
          expire: async () => {
            passed += 120_000;
          },
        }
      : {}),
  });
}
