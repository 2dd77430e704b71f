import { isRefusal } from "../databases/database-users.ts";
import type { Databases } from "../databases/databases.ts";
import type { InstanceRecord } from "../model/records.ts";
import type { Store } from "../model/store.ts";
import type { Events } from "./events.ts";

/** What it takes to put an instance's users in force. */
export interface ApplyUsersParts {
  readonly store: Store;
  readonly events: Events;
  readonly databases: () => Databases;
  /** Waits this many ms; rejects when the platform closes. */
  readonly wait: (ms: number) => Promise<void>;
}

/** Changes a record unless `may` says otherwise of what it is in its turn; resolves with whether it did. */
export type RecordIf = (may: (record: InstanceRecord) => boolean) => Promise<boolean>;

/** How often a database that serves and does not answer is asked again. */
const attempts = 5;

/**
 * Says that an instance runs at the very moment when its database has the users of its record: those that came, went
 * or changed while it was on its way up are put in force first. A user that the database refuses is an event and no hindrance.
 */
export async function applyUsersThenRecord(parts: ApplyUsersParts, id: string, say: RecordIf): Promise<void> {
  const { store, events } = parts;
  const databases = parts.databases();
  for (let failed = 0; ; ) {
    if (await say((record) => databases.hasUsers(record))) return;
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
