/** @module Records the state of an instance and the end of a snapshot. */
import type { Databases } from "../databases/databases.ts";
import type { InstanceRecord, Store } from "../model/records.ts";
import type { Settings } from "../options.ts";
import type { Events } from "./events.ts";
import type { Tasks } from "./tasks.ts";

export interface Parts {
  readonly settings: Settings;
  readonly store: Store;
  readonly events: Events;
  readonly tasks: Tasks;
  readonly databases: Databases;
  readonly snapshotFile: (region: string, snapshotId: string) => string;
  /** The current time, ISO 8601; never the same twice, so that records sort in the order of their creation. */
  readonly timestamp: () => string;
}

export type StateParts = Pick<Parts, "store" | "events" | "databases" | "tasks" | "timestamp">;

/** Attempts to apply users to a database that runs and does not answer. */
const attempts = 5;

/** Notes a patch in the record of an instance, with a new `lastModified` if it changes anything; nothing if `isSuperseded`. */
export function noteState(
  { store, timestamp }: Pick<StateParts, "store" | "timestamp">,
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
 * Notes a patch as `noteState`; RUNNING only once the database has the users of the record, also those changed while it
 * started. A refused user becomes an event and stops nothing. Rejects if the database does not answer.
 */
export async function recordState(
  parts: StateParts,
  id: string,
  patch: Partial<InstanceRecord>,
  isSuperseded: (record: InstanceRecord) => boolean = () => false,
): Promise<void> {
  const { store, events, databases } = parts;
  for (let failed = 0; patch.status === "RUNNING"; ) {
    const record = store.instances.get(id);
    if (record === undefined || isSuperseded(record) || databases.hasUsers(record)) break;
    try {
      for (const { username, reason } of await databases.applyUsers(record))
        events.add(id, `database user ${username} cannot sign in: ${reason}`, true);
    } catch (error) {
      failed += 1;
      if (failed >= attempts || !databases.serves(id)) throw error;
      await parts.tasks.wait(200);
    }
  }
  noteState(parts, id, patch, isSuperseded);
}

/** Records a status; FAILED instead of RUNNING if the users cannot be applied. */
export async function recordStateOrFailure(
  parts: StateParts,
  id: string,
  status: "RUNNING" | "FAILED",
  patch: Partial<InstanceRecord>,
  isSuperseded?: (record: InstanceRecord) => boolean,
): Promise<void> {
  try {
    await recordState(parts, id, { ...patch, status }, isSuperseded);
  } catch (error) {
    if (parts.tasks.closing.aborted || status === "FAILED") throw error;
    noteState(parts, id, { ...patch, status: "FAILED" }, isSuperseded);
  }
}

/** Records that a snapshot is completed, or FAILED with a reason; repeated until it is written. */
export async function endSnapshot(
  { store, events, tasks, timestamp }: StateParts,
  id: string,
  failure?: string,
): Promise<void> {
  const ended = await tasks.untilWritten(() =>
    store.snapshots.update(id, (snapshot) =>
      failure === undefined
        ? { ...snapshot, status: "completed", progress: 100, completedAt: timestamp() }
        : { ...snapshot, status: "FAILED", failure },
    ),
  );
  if (ended !== undefined && failure !== undefined)
    events.add(ended.sourceInstanceId, `snapshot ${id} failed: ${failure}`, true);
}
