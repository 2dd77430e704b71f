/** @module Records the state of an instance, repeating the write until it succeeds. */
import type { InstanceRecord } from "../model/records.ts";
import { StorageError } from "../model/storage-trouble.ts";
import { type ApplyUsersParts, applyUsersThenRecord } from "./apply-users.ts";

/** Options of `recordState`. */
export interface RecordStateParts extends ApplyUsersParts {
  readonly timestamp: () => string;
}

/** Shortest and longest pause between attempts to write, in ms. */
const [shortest, longest] = [50, 2000];

/** Repeats a write until it succeeds: what was done must be recorded, however long the disk is full. Rejects when the platform closes. */
export async function untilWritten<T>(wait: ApplyUsersParts["wait"], write: () => Promise<T>): Promise<T> {
  for (let pause = shortest; ; pause = Math.min(2 * pause, longest)) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      await wait(pause);
    }
  }
}

/**
 * Merges a patch into the record of an instance. RUNNING is recorded once the users are applied. Does nothing where the record is
 * gone or `isSuperseded` is true for it.
 */
export async function recordState(
  parts: RecordStateParts,
  id: string,
  patch: Partial<InstanceRecord>,
  isSuperseded: (record: InstanceRecord) => boolean = () => false,
): Promise<void> {
  const recordIf = (isReady: (record: InstanceRecord) => boolean): Promise<boolean> =>
    untilWritten(parts.wait, async () => {
      let isRecorded = false;
      await parts.store.instances.update(id, (record) => {
        const isLate = isSuperseded(record);
        isRecorded = isLate || isReady(record);
        return isRecorded && !isLate ? patched(record, patch, parts.timestamp) : record;
      });
      return isRecorded;
    });
  if (patch.status === "RUNNING") await applyUsersThenRecord(parts, id, recordIf);
  else await recordIf(() => true);
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

/** The record with the patch and a new `lastModified`; the same record where the patch changes nothing. */
function patched(
  record: InstanceRecord,
  patch: Partial<InstanceRecord>,
  timestamp: () => string,
): InstanceRecord {
  const next = { ...record, ...patch };
  if (JSON.stringify(next) === JSON.stringify(record)) return record;
  return { ...next, lastModified: timestamp() };
}
