/** @module Runs work in the background until the platform closes, and repeats writes until they succeed. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileTrouble } from "../../files/file-trouble.ts";
import { StorageError } from "../model/service-error.ts";
import type { Events } from "./events.ts";

export interface Tasks {
  /** Runs a task of an instance; `close` waits for it, and its failure becomes an event. */
  run(id: string, task: Promise<unknown>): void;
  /** Waits this many ms; rejects when the platform closes. */
  wait(ms: number): Promise<void>;
  /** Repeats a write until it succeeds, for what a client may rely on once it is shown. Rejects when the platform closes. */
  untilWritten<T>(write: () => Promise<T>): Promise<T>;
  readonly closing: AbortSignal;
  /** Ends all waits and resolves when every task has ended; the next start of the platform continues the rest. */
  close(): Promise<void>;
}

/** Shortest and longest pause between attempts to write, in ms. */
const [minPause, maxPause] = [50, 2000];

export function createTasks(events: Events): Tasks {
  const closing = new AbortController();
  const running = new Set<Promise<void>>();
  const wait = async (ms: number): Promise<void> => {
    if (ms > 0) await sleep(ms, undefined, { signal: closing.signal });
    closing.signal.throwIfAborted();
  };
  return {
    wait,
    run(id, task) {
      const tracked = task
        .then(() => undefined)
        .catch((error: unknown) => {
          if (!closing.signal.aborted) events.add(id, `the platform failed: ${fileTrouble(error)}`, true);
        })
        .finally(() => running.delete(tracked));
      running.add(tracked);
    },
    async untilWritten(write) {
      for (let pause = minPause; ; pause = Math.min(2 * pause, maxPause)) {
        try {
          return await write();
        } catch (error) {
          if (!(error instanceof StorageError)) throw error;
          await wait(pause);
        }
      }
    },
    closing: closing.signal,
    async close() {
      closing.abort();
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}
