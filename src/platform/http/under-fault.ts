/** @module Applies a fault to the answer of a request. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Fault } from "../control/fault-rule.ts";
import type { ErrorFormat } from "./error-format.ts";

/** Calls `work` as the fault says: late, never, or with another answer. "cut": the connection is to be cut without an answer. */
export async function underFault(
  fault: Fault,
  format: ErrorFormat,
  work: () => Promise<Response>,
): Promise<Response | "cut"> {
  if (fault.latency !== undefined) await sleep(fault.latency);
  if (fault.reset === "before") return "cut";
  if (fault.hang !== undefined) {
    if (fault.work === true) await work();
    await sleep(fault.hang, undefined, { ref: false });
    return "cut";
  }
  if (fault.reset === "after") {
    await work();
    return "cut";
  }
  const done = fault.status === undefined || fault.work === true ? await work() : undefined;
  const { status = done?.status ?? 200, body, retryAfter } = fault;
  if (done !== undefined && fault.status === undefined && body === undefined && retryAfter === undefined)
    return done;
  const said = fault.status === undefined ? done : format.error(status, `fault on request: status ${status}`);
  const headers = new Headers(said?.headers);
  if (retryAfter !== undefined) headers.set("retry-after", String(retryAfter));
  const isBodiless = status === 204 || status === 205 || status === 304;
  return new Response(isBodiless ? null : (body ?? (await said?.text()) ?? null), { status, headers });
}
