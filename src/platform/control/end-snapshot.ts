import { fileTrouble, isFileError } from "../../files/file-trouble.ts";
import type { Store } from "../model/store.ts";
import type { Events } from "./events.ts";
import { untilWritten } from "./record-state.ts";

/** What it takes to write down what became of a snapshot. */
export interface SnapshotParts {
  readonly store: Store;
  readonly events: Events;
  readonly timestamp: () => string;
  readonly wait: (ms: number) => Promise<void>;
}

/** Writes down, as soon as that is possible, that a snapshot is completed, or that it failed and why. It stays in the list either way. */
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

/** Why a file could not be written, in words for clients: without paths of this machine. */
export function reasonOfFile(error: unknown): string {
  return isFileError(error) ? fileTrouble(error) : error instanceof Error ? error.message : String(error);
}
