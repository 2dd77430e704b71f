import type { InstanceRecord } from "../model/records.ts";
import { StorageError } from "../model/storage-trouble.ts";
import { type ApplyUsersParts, applyUsersThenRecord } from "./apply-users.ts";

/** What settling works with. */
export interface RecordStateParts extends ApplyUsersParts {
  readonly timestamp: () => string;
}

/** Pauses between attempts to write, in ms. */
const [shortest, longest] = [50, 2000];

/** Repeats a write until it succeeds: what has been done must be written down, however long the disk is full. Rejects when the platform closes. */
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
 * Writes down what has become of an instance, as soon as that is possible; an instance that runs is said to once its users are in
 * force. Where the record is gone, or `isMoot` by then, nothing is done.
 */
export async function recordState(
  parts: RecordStateParts,
  id: string,
  patch: Partial<InstanceRecord>,
  isSuperseded: (record: InstanceRecord) => boolean = () => false,
): Promise<void> {
  const say = (may: (record: InstanceRecord) => boolean): Promise<boolean> =>
    untilWritten(parts.wait, async () => {
      let isRecorded = false;
      await parts.store.instances.update(id, (record) => {
        const isLate = isSuperseded(record);
        isRecorded = isLate || may(record);
        return isRecorded && !isLate ? patched(record, patch, parts.timestamp) : record;
      });
      return isRecorded;
    });
  if (patch.status === "RUNNING") await applyUsersThenRecord(parts, id, say);
  else await say(() => true);
}

/** Writes down that an instance runs; where its users cannot be put in force, that it failed. */
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

/** The record with a patch that changes something, and the time of that. */
function patched(
  record: InstanceRecord,
  patch: Partial<InstanceRecord>,
  timestamp: () => string,
): InstanceRecord {
  const next = { ...record, ...patch };
  if (JSON.stringify(next) === JSON.stringify(record)) return record;
  return { ...next, lastModified: timestamp() };
}
