/** @module Applies the users of an instance to its database before the instance is shown as running. */
import { isRefusal } from "../databases/database-users.ts";
import type { Databases } from "../databases/databases.ts";
import type { InstanceRecord } from "../model/records.ts";
import type { Store } from "../model/store.ts";
import type { Events } from "./events.ts";

/** Options of `applyUsersThenRecord`. */
export interface ApplyUsersParts {
  readonly store: Store;
  readonly events: Events;
  readonly databases: () => Databases;
  /** Waits this many ms; rejects when the platform closes. */
  readonly wait: (ms: number) => Promise<void>;
}

/** Changes a record where `isReady` accepts its current value; resolves with true where it did. */
export type RecordIf = (isReady: (record: InstanceRecord) => boolean) => Promise<boolean>;

/** Attempts to apply users to a database that runs and does not answer. */
const attempts = 5;

/**
 * Calls `recordIf` once the database has the users of the record, also those that were added, removed or changed while it started. A
 * user that the database refuses becomes an event and stops nothing. Rejects where the database does not answer.
 */
export async function applyUsersThenRecord(
  parts: ApplyUsersParts,
  id: string,
  recordIf: RecordIf,
): Promise<void> {
  const { store, events } = parts;
  const databases = parts.databases();
  for (let failed = 0; ; ) {
    if (await recordIf((record) => databases.hasUsers(record))) return;
    const record = store.instances.get(id);
    if (record === undefined) return;
    try {
      for (const { username, reason } of await databases.applyUsers(record)) {
        events.add(id, `database user ${username} cannot sign in: ${reason}`, true);
      }
    } catch (error) {
      failed += 1;
      if (isRefusal(error) || failed >= attempts || !databases.serves(id)) throw error;
      await parts.wait(200);
    }
  }
}
