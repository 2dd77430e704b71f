/** @module Checks that a database accepts its credentials. */
import { isRefusal, openDatabase } from "./connect.ts";
import { type DatabaseFailure, isDatabaseError } from "./database-error.ts";
import { isNotReady } from "./failures.ts";
import type { DatabaseTarget } from "./target.ts";

/** Result of one PING. `unreachable` covers a database that is still loading. */
export type Verdict = "answered" | DatabaseFailure;

/** One PING as the user of the target, within its timeout. Rejects with the reason of the signal, and with nothing else. */
export async function verify(target: DatabaseTarget, signal: AbortSignal): Promise<Verdict> {
  try {
    const database = await openDatabase(target, signal);
    try {
      await database.ask(["PING"]);
      return "answered";
    } finally {
      database.close();
    }
  } catch (error) {
    if (signal.aborted) throw error;
    if (isRefusal(error)) return verdictOf(error);
    return isDatabaseError(error) ? error.failure : "unreachable";
  }
}

/** A user who may not PING was let in all the same. */
function verdictOf(reply: Error): Verdict {
  if (/^(NOAUTH|WRONGPASS)/.test(reply.message)) return "refused-credentials";
  return isNotReady(reply) ? "unreachable" : "answered";
}
