/** @module Keeps the threads of a worker, one for each order at work, and defines their messages, which are plain data. */

import { basename } from "node:path";
import { Worker } from "node:worker_threads";
import {
  type ApplyEvent,
  type ExitCode,
  GraphformError,
  ManifestError,
  type ManifestLimits,
} from "../../index.ts";
import { isAway } from "../database/connect.ts";
import type { TenantEnvironment } from "../sources/tenant-environment.ts";
import type { PlanDocument } from "./verdict.ts";

/** The manifest of a tenant, with the environment that it may see: to be planned, or applied within an approved plan. */
export interface Order extends Pick<TenantEnvironment, "env" | "service"> {
  /** Files of the checkout, absolute. */
  readonly files: readonly string[];
  readonly limits: ManifestLimits;
  /** True if the database keeps the files: no secret may stand in them. */
  readonly isStored: boolean;
  /** The facts of this state, and of all others of the same service, if objects of this one may be unknown. As JSON, which may be long. */
  readonly bound: { readonly own: string; readonly others: string } | undefined;
  /** Address of the state, without credentials. */
  readonly state: string;
  readonly approved?: Approved;
}

export interface Approved {
  readonly fingerprint: string;
  readonly document: PlanDocument;
  /** True if an earlier worker may have done a part of it. */
  readonly isResumed: boolean;
  /** True if a failover came after it: what was made since may be known nowhere. */
  readonly isOld: boolean;
}

/** A state, as the column `facts` has it. */
export interface StateFacts {
  readonly ids?: readonly string[];
  readonly settled?: boolean | null;
}

/** The result of an apply. `refused` is the plan that went beyond the approved one, with the reason: nothing was applied. */
export type Applied =
  | { readonly exitCode: number; readonly reasons: readonly string[] }
  | { readonly refused: PlanDocument; readonly why: string };

/** A message to a thread, which has one order at a time. */
export type ToThread = Order | "stop";

/** A message of a thread: something that happened, or the end of its order. */
export type FromThread<T> =
  | { readonly event: ApplyEvent }
  | { readonly done: T }
  | { readonly failure: Failure };

/** An error that a thread has caught, or its own end; the message holds no secret. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly exitCode: ExitCode;
}

/** The code of the failure that is the end of the thread itself. */
export const threadEnded = "thread-ended";

/** The code of the failure of a run whose state, or whose own row, could not be reached: the controller's database was away. */
export const databaseAway = "state-unreachable";

/** The failure of an error; for a foreign one only its name, since its message may quote a secret. */
export function failureOf(error: unknown): Failure {
  if (error instanceof GraphformError) {
    const { code, message, exitCode } = error;
    return { code, message: error instanceof ManifestError ? problemsOf(error) : message, exitCode };
  }
  if (isAway(error))
    return { code: databaseAway, message: "the controller's database was away", exitCode: 1 };
  const message = `an unexpected error (${error instanceof Error ? error.name : typeof error})`;
  return { code: "unexpected", message, exitCode: 1 };
}

function problemsOf({ problems }: ManifestError): string {
  const lines = problems.slice(0, 20).map(({ range: { file, start }, message, hint }) => {
    const words = hint === undefined ? message : `${message} (${hint})`;
    return `${basename(file)}:${start.line}:${start.column}: ${words}`;
  });
  return lines.join("\n");
}

/** Memory of a thread in MB: a plan of 10 000 databases needs some 500. */
const maxMemory = 1_500;

export interface Threads {
  /** Rejects with the failure as a `GraphformError`. A signal that is aborted ends the waiting; requests in flight end and are recorded first. */
  plan(order: Order, signal: AbortSignal): Promise<PlanDocument>;
  apply(
    order: Order & { readonly approved: Approved },
    signal: AbortSignal,
    onEvent: (event: ApplyEvent) => void,
  ): Promise<Applied>;
  close(): Promise<void>;
}

/** Ms in which a thread that is told to stop ends its order, longer than the longest request; after that it hangs, and is ended. */
const patience = 90_000;

/** Starts no thread before the first order. */
export function openThreads(entry: URL, endsWithin: number = patience): Threads {
  const idle: Worker[] = [];
  const all = new Set<Worker>();

  const start = (): Worker => {
    // A thread has no access to the environment of the process: an order brings the variables that it needs.
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
    let limit: NodeJS.Timeout | undefined;
    const stop = (): void => {
      thread.postMessage("stop" satisfies ToThread);
      limit = setTimeout(() => void thread.terminate(), endsWithin);
    };
    const fail = ({ code, message, exitCode }: Failure): void =>
      answered.reject(new GraphformError(code, message, { exitCode }));
    const listen = (said: FromThread<T>): void => {
      if ("event" in said) onEvent(said.event);
      else if ("done" in said) answered.resolve(said.done);
      else fail(said.failure);
    };
    const ended = (): void => {
      const message =
        "the thread of the run ended: out of memory, told to stop in vain, or a mistake in graphform";
      fail({ code: threadEnded, message, exitCode: 1 });
    };
    signal.addEventListener("abort", stop);
    thread.on("message", listen).once("exit", ended);
    thread.postMessage(order satisfies ToThread);
    if (signal.aborted) stop();
    try {
      return await answered.promise;
    } finally {
      clearTimeout(limit);
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
