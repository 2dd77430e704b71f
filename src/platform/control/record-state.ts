/** @module Records the state of an instance and the end of a snapshot, and repeats writes until they succeed. */

import { isRefusal } from "../databases/database-users.ts";
import type { Databases } from "../databases/databases.ts";
import type { Store } from "../model/collection.ts";
import type { InstanceRecord } from "../model/records.ts";
import { StorageError } from "../model/service-error.ts";
import type { Events } from "./events.ts";

/** Options of `recordState`. */
export interface RecordStateParts {
  readonly store: Store;
  readonly events: Events;
  readonly databases: () => Databases;
  /** Waits this many ms; rejects when the platform closes. */
  readonly wait: (ms: number) => Promise<void>;
  readonly timestamp: () => string;
}

/** Attempts to apply users to a database that runs and does not answer. */
const attempts = 5;

/** Shortest and longest pause between attempts to write, in ms. */
const [shortest, longest] = [50, 2000];

/**
 * Repeats a write until it succeeds, for what a client may rely on once it is shown: the end of a snapshot, a deletion. Rejects when
 * the platform closes.
 */
export async function untilWritten<T>(wait: RecordStateParts["wait"], write: () => Promise<T>): Promise<T> {
  for (let pause = shortest; ; pause = Math.min(2 * pause, longest)) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      await wait(pause);
    }
  }
}

/** Notes a patch in the record of an instance, with a new `lastModified` where it changes anything; nothing where `isSuperseded`. */
export function noteState(
  { store, timestamp }: Pick<RecordStateParts, "store" | "timestamp">,
  id: string,
  patch: Partial<InstanceRecord>,
  isSuperseded: (record: InstanceRecord) => boolean = () => false,
): void {
  const lastModified = timestamp();
  store.instances.note(id, (record) => {
    if (isSuperseded(record)) return record;
    const next = { ...record, ...patch };
    return JSON.stringify(next) === JSON.stringify(record) ? record : { ...next, lastModified };
  });
}

/**
 * Notes a patch as `noteState`; RUNNING only once the database has the users of the record, also those that were added, removed or
 * changed while it started. A user that the database refuses becomes an event and stops nothing. Rejects where the database does not
 * answer.
 */
export async function recordState(
  parts: RecordStateParts,
  id: string,
  patch: Partial<InstanceRecord>,
  isSuperseded: (record: InstanceRecord) => boolean = () => false,
): Promise<void> {
  const { store, events } = parts;
  const databases = parts.databases();
  for (let failed = 0; patch.status === "RUNNING"; ) {
    const record = store.instances.get(id);
    if (record === undefined || isSuperseded(record) || databases.hasUsers(record)) break;
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
  noteState(parts, id, patch, isSuperseded);
}

/** Records a status; FAILED instead of RUNNING where the users cannot be applied. */
export async function recordStateOrFailure(
  parts: RecordStateParts & { readonly closing: AbortSignal },
  id: string,
  status: "RUNNING" | "FAILED",
  patch: Partial<InstanceRecord>,
  isSuperseded?: (record: InstanceRecord) => boolean,
): Promise<void> {
  try {
    await recordState(parts, id, { ...patch, status }, isSuperseded);
  } catch (error) {
    if (parts.closing.aborted || status === "FAILED") throw error;
    await recordState(parts, id, { ...patch, status: "FAILED" }, isSuperseded);
  }
}

/** Options of `endSnapshot`. */
export interface SnapshotParts {
  readonly store: Store;
  readonly events: Events;
  readonly timestamp: () => string;
  readonly wait: (ms: number) => Promise<void>;
}

/**
 * Records that a snapshot is completed, or FAILED with a reason; repeated until it is written. The snapshot stays in the list in
 * either case.
 */
export async function endSnapshot(parts: SnapshotParts, id: string, failure?: string): Promise<void> {
  const { store, events } = parts;
  const ended = await untilWritten(parts.wait, () =>
    store.snapshots.update(id, (snapshot) =>
      failure === undefined
        ? { ...snapshot, status: "completed", progress: 100, completedAt: parts.timestamp() }
        : { ...snapshot, status: "FAILED", failure },
    ),
  );
  if (ended !== undefined && failure !== undefined)
    events.add(ended.sourceInstanceId, `snapshot ${id} failed: ${failure}`, true);
}
