/** @module Tries whether a server of Terraform's protocol keeps a second run out. */
import { randomBytes } from "node:crypto";
import type { GraphformError } from "../../../model/errors.ts";
import type { Holder } from "../../store.ts";
import { unknownHolder } from "../wire/lock-info.ts";
import { unsuitable } from "../wire/refusals.ts";
import type { HttpLock } from "./http-lock.ts";

/**
 * Takes the lock twice, under two IDs, and gives it back with the wrong one and then the right one. Rejects with
 * `state-unsuitable` where the second run is let in, or where a wrong ID frees the lock. A lock that somebody holds is
 * proof enough.
 */
export async function probeHttp(lock: HttpLock, where: string): Promise<void> {
  const [first, second] = [passer("probe"), passer("probe")];
  if ((await lock.take(first)).is === "held") return;
  try {
    await assertKeepsOut(lock, second, () =>
      unsuitable(where, "gives its lock to two runs at once", noLockHint),
    );
    // A server may say yes and do nothing: the third attempt tells.
    if (await lock.free(second))
      await assertKeepsOut(lock, passer("probe"), () =>
        unsuitable(where, "removes its lock for any ID", noLockHint),
      );
  } finally {
    await lock.free(first);
  }
}

/** Asks for a lock that was just taken once more. Rejects with `state-unsuitable` where it is given to two, and gives both back. */
export async function proveLock(lock: HttpLock, holder: Holder, where: string): Promise<void> {
  const refusal = unsuitable(where, "gives its lock to two runs at once", noLockHint);
  await assertKeepsOut(lock, passer("probe"), () => refusal).catch(async (error: unknown) => {
    if (error === refusal) await lock.free(holder);
    throw error;
  });
}

/** A holder for as long as a look takes. */
export function passer(operation: string): Holder {
  return { ...unknownHolder(randomBytes(8).toString("hex")), operation };
}

async function assertKeepsOut(lock: HttpLock, other: Holder, refusal: () => GraphformError): Promise<void> {
  if ((await lock.take(other)).is === "held") return;
  await lock.free(other);
  throw refusal();
}

const noLockHint =
  "two runs at once would make databases twice; use a server that keeps the rules of Terraform's protocol, or check lockAddress";
