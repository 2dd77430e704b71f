/** @module Keeps the threads of a worker: one for each slot, used again as long as it is well. */
import { Worker } from "node:worker_threads";
import { type ApplyEvent, GraphformError } from "../../index.ts";
import type { Applied, Approved, Failure, FromThread, Order, ToThread } from "./orders.ts";
import type { PlanDocument } from "./verdict.ts";

/** Memory of a thread in MB: a plan of 10 000 databases needs some 500. */
const maxMemory = 1_500;

/** Rejected by a thread: the failure that it has caught, or its own end. */
class OrderFailed extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** The failure of an order; of another error only its name is told, since its words may quote a secret. */
export function failureOfOrder(error: unknown): Failure & { readonly isOwnEnd: boolean } {
  if (error instanceof OrderFailed)
    return { ...error.failure, isOwnEnd: error.failure.code === "thread-ended" };
  if (error instanceof GraphformError)
    return { code: error.code, message: error.message, exitCode: error.exitCode, isOwnEnd: false };
  const message = `an unexpected error (${error instanceof Error ? error.name : typeof error})`;
  return { code: "unexpected", message, exitCode: 1, isOwnEnd: false };
}

export interface Threads {
  /** Rejects with `OrderFailed`. A signal that is aborted ends the waiting; requests in flight end and are recorded first. */
  plan(order: Order, signal: AbortSignal): Promise<PlanDocument>;
  apply(
    order: Order,
    approved: Approved,
    onEvent: (event: ApplyEvent) => void,
    signal: AbortSignal,
  ): Promise<Applied>;
  close(): Promise<void>;
}

/** Starts no thread before the first order. */
export function openThreads(entry: URL): Threads {
  const idle: Worker[] = [];
  const all = new Set<Worker>();
  let orders = 0;

  const take = (): Worker => {
    const free = idle.pop();
    if (free !== undefined) return free;
    // A thread sees nothing of the process's environment: what an order needs comes with it.
    const thread = new Worker(entry, {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: maxMemory },
      stdout: true,
      stderr: true,
    });
    all.add(thread);
    // An error ends the thread, and so its order.
    thread.on("error", () => undefined);
    thread.once("exit", () => all.delete(thread));
    return thread;
  };

  const run = async <T>(
    message: (id: number) => ToThread,
    signal: AbortSignal,
    read: (message: FromThread) => T | undefined,
  ): Promise<T> => {
    const thread = take();
    orders += 1;
    const id = orders;
    const stop = (): void => thread.postMessage({ type: "stop", id } satisfies ToThread);
    const answered = Promise.withResolvers<T>();
    const listen = (said: FromThread): void => {
      if (said.id !== id) return;
      const value = said.type === "failed" ? undefined : read(said);
      if (said.type === "failed") answered.reject(new OrderFailed(said.failure));
      else if (value !== undefined) answered.resolve(value);
    };
    const ended = (): void =>
      answered.reject(
        new OrderFailed({
          code: "thread-ended",
          message: "the thread of the run ended: out of memory, or a mistake in graphform",
          exitCode: 1,
        }),
      );
    signal.addEventListener("abort", stop);
    thread.on("message", listen);
    thread.once("exit", ended);
    thread.postMessage(message(id));
    if (signal.aborted) stop();
    try {
      return await answered.promise;
    } finally {
      signal.removeEventListener("abort", stop);
      thread.off("message", listen);
      thread.off("exit", ended);
      if (all.has(thread)) idle.push(thread);
    }
  };

  return {
    plan: async (order, signal) =>
      run(
        (id) => ({ type: "plan", id, order }),
        signal,
        (said) => (said.type === "planned" ? said.plan : undefined),
      ),
    apply: async (order, approved, onEvent, signal) =>
      run(
        (id) => ({ type: "apply", id, order, approved }),
        signal,
        (said) => {
          if (said.type === "event") onEvent(said.event);
          return said.type === "applied" ? said.applied : undefined;
        },
      ),
    async close() {
      await Promise.all([...all].map((thread) => thread.terminate()));
    },
  };
}
