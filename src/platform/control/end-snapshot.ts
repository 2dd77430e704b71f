/** @module Records how the making of a snapshot ended. */
import { fileTrouble, isFileError } from "../../files/file-trouble.ts";
import type { Store } from "../model/store.ts";
import type { Events } from "./events.ts";
import { untilWritten } from "./record-state.ts";

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

/** Reason of a failed write, without paths of this machine, for clients. */
export function reasonOfFile(error: unknown): string {
  return isFileError(error) ? fileTrouble(error) : error instanceof Error ? error.message : String(error);
}
