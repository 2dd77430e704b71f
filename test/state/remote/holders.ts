import { randomBytes } from "node:crypto";
import { isGraphformError } from "../../../src/model/errors.ts";
import type { Lease, StateDriver, Taken } from "../../../src/state/remote/driver.ts";
import type { Holder } from "../../../src/state/store.ts";

/** A holder with a lease of a minute that began at `heartbeat`. */
export function newHolder(heartbeat = "2026-11-22T10:00:00.000Z", lease = 60_000): Holder {
  return {
    id: randomBytes(8).toString("hex"),
    who: "ada@ci-7",
    pid: 4711,
    host: "ci-7",
    operation: "apply",
    created: heartbeat,
    heartbeat,
    expires: new Date(Date.parse(heartbeat) + lease).toISOString(),
  };
}

/** A state's text with that serial. */
export function document(serial: number, more = ""): string {
  return `${JSON.stringify({ version: 2, name: "orders", lineage: "l-1", serial, more })}\n`;
}

export function leaseOf(taken: Taken): Lease {
  if (taken.is !== "taken") throw new Error(`held by ${taken.by.id}`);
  return taken.lease;
}

/** The code of the error that a call ends with; `none` where it does not. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await errorOf(work);
  return isGraphformError(error) ? error.code : String(error ?? "none");
}

/** Everything that an error says, at every depth. */
export async function wordsOf(work: Promise<unknown>): Promise<string> {
  const said: string[] = [];
  for (let error = await errorOf(work); error instanceof Error; error = error.cause) {
    said.push(error.name, error.message, error.stack ?? "", JSON.stringify(error));
    if (isGraphformError(error)) said.push(error.code, error.hint ?? "");
  }
  return said.join("\n");
}

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Every call of a driver that sends something. */
export function everyCall(driver: StateDriver): readonly (() => Promise<unknown>)[] {
  const holder = newHolder();
  const lease = { holder, token: holder.id };
  return [
    () => driver.read(),
    () => driver.write(document(1), undefined, lease),
    () => driver.take(holder),
    () => driver.renew(lease, holder),
    () => driver.release(lease),
    () => driver.holder(),
    () => driver.remove(holder.id),
    () => driver.prepare(),
    () => driver.probe(),
    () => driver.history(),
    () => driver.readVersion("1"),
  ];
}
