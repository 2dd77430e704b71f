import { randomBytes } from "node:crypto";
import type { Lease, StateDriver } from "../../../../src/state/remote/driver.ts";
import type { Holder } from "../../../../src/state/store.ts";

/** A holder with a lease of this length, in ms. */
export function holder(lease = 60_000, id: string = randomBytes(8).toString("hex")): Holder {
  const now = Date.now();
  return {
    id,
    who: "ann@laptop",
    pid: 7,
    host: "laptop",
    operation: "apply",
    created: new Date(now).toISOString(),
    heartbeat: new Date(now).toISOString(),
    expires: new Date(now + lease).toISOString(),
  };
}

/** Takes the lock, or fails the test. */
export async function taken(driver: StateDriver, by: Holder = holder()): Promise<Lease> {
  const end = await driver.take(by);
  if (end.is === "taken") return end.lease;
  throw new Error(`the lock is held by ${end.by.id}`);
}

/** A document as graphform stores them, of so many resources. */
export function documentOf(serial: number, resources = 1): string {
  const rows = Array.from({ length: resources }, (_, index) => [
    `instances.db-${index}`,
    { id: `id-${index}`, applied: { name: `Größe ✓ ${index} \u2028`, note: 'quo"te\\n' } },
  ]);
  return `${JSON.stringify({ version: 2, lineage: "one", serial, resources: Object.fromEntries(rows) }, null, 1)}\n`;
}
