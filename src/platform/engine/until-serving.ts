import { setTimeout as sleep } from "node:timers/promises";
import {
  isHalted,
  isRunning,
  type PinnedProcess,
  processorTime,
  signalTo,
} from "../../files/process-identity.ts";
import { isRefusal, type Login, ping } from "./connection.ts";

/** Above this share of the time on the processor a silent server is at work, and not halted. */
const busyShare = 0.2;

/** How long a server may be at work without answering, in ms. */
const longest = 120_000;

/**
 * Resolves with true when a server answers with its data loaded, with false when it has ended, or has been silent for `ms`.
 * Loading is not silence, and neither is work: what a server does in one piece may take long, and ending it then would lose
 * what it has not saved. One that is halted is told to go on. Rejects with the signal's reason.
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
