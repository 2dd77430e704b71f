/** @module Waits until a server answers with its data loaded. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  isHalted,
  isRunning,
  type PinnedProcess,
  processorTime,
  signalTo,
} from "../../files/process-identity.ts";
import { isRefusal, type Login, ping } from "./connection.ts";

/** Share of processor time above which a silent server counts as busy. */
const busyShare = 0.2;

/** Maximum time for a busy server to stay silent, in ms. */
const longest = 120_000;

/**
 * True when the server answers with its data loaded; false when it has ended or was silent for `ms`. A server that loads or computes
 * is not silent: a long command blocks all others, and ending the server would lose what it has not saved. A halted server is
 * continued. Rejects with the signal's reason.
 */
export async function untilServing(
  server: PinnedProcess,
  login: Login,
  ms: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const start = performance.now();
  let heard = start;
  let used = processorTime(server);
  for (let looked = start; performance.now() - heard < ms; ) {
    signal?.throwIfAborted();
    try {
      await ping(login, Math.min(1000, ms));
      return true;
    } catch (error) {
      if (isRefusal(error) && error.message.startsWith("LOADING")) heard = performance.now();
    }
    if (!isRunning(server)) return false;
    if (isHalted(server)) signalTo(server, "SIGCONT");
    const now = performance.now();
    if (now - looked >= 1000) {
      const before = used ?? 0;
      used = processorTime(server);
      const isAtWork = used !== undefined && used - before > busyShare * (now - looked);
      if (isAtWork && now - start < longest) heard = now;
      looked = now;
    }
    await sleep(5);
  }
  return false;
}
