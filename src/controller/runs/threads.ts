/** @module Keeps the threads of a worker: one for each order at work, used again as long as it is well. */
import { Worker } from "node:worker_threads";
import type { ApplyEvent } from "../../index.ts";
import {
  type Applied,
  type FromThread,
  type Order,
  OrderFailed,
  type ToThread,
  threadEnded,
} from "./orders.ts";
import type { PlanDocument } from "./verdict.ts";

/** Memory of a thread in MB: a plan of 10 000 databases needs some 500. */
const maxMemory = 1_500;

export interface Threads {
  /** Rejects with `OrderFailed`. A signal that is aborted ends the waiting; requests in flight end and are recorded first. */
  plan(order: Order, signal: AbortSignal): Promise<PlanDocument>;
  apply(order: Required<Order>, signal: AbortSignal, onEvent: (event: ApplyEvent) => void): Promise<Applied>;
  close(): Promise<void>;
}

/** Starts no thread before the first order. */
export function openThreads(entry: URL): Threads {
  const idle: Worker[] = [];
  const all = new Set<Worker>();

  const start = (): Worker => {
    // A thread sees nothing of the process's environment: what an order needs comes with it.
    const resourceLimits = { maxOldGenerationSizeMb: maxMemory };
    const thread = new Worker(entry, { env: {}, resourceLimits, stdout: true, stderr: true });
    all.add(thread);
    // An error ends the thread, and so its order.
    thread.on("error", () => undefined);
    thread.once("exit", () => all.delete(thread));
    return thread;
  };

  const run = async <T>(
    order: Order,
    signal: AbortSignal,
    onEvent: (event: ApplyEvent) => void = () => undefined,
  ): Promise<T> => {
    const thread = idle.pop() ?? start();
    const answered = Promise.withResolvers<T>();
    const stop = (): void => thread.postMessage("stop" satisfies ToThread);
    const listen = (said: FromThread<T>): void => {
      if ("event" in said) onEvent(said.event);
      else if ("done" in said) answered.resolve(said.done);
      else answered.reject(new OrderFailed(said.failure));
    };
    const ended = (): void => {
      const message = "the thread of the run ended: out of memory, or a mistake in graphform";
      answered.reject(new OrderFailed({ code: threadEnded, message, exitCode: 1 }));
    };
    signal.addEventListener("abort", stop);
    thread.on("message", listen).once("exit", ended);
    thread.postMessage(order satisfies ToThread);
    if (signal.aborted) stop();
    try {
      return await answered.promise;
    } finally {
      signal.removeEventListener("abort", stop);
      thread.off("message", listen).off("exit", ended);
      if (all.has(thread)) idle.push(thread);
    }
  };

  return {
    plan: run,
    apply: run,
    async close() {
      await Promise.all([...all].map((thread) => thread.terminate()));
    },
  };
}
