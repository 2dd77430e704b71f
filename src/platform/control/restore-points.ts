/** @module Lists the snapshots that an instance can be restored to a time from. */
import type { InstanceRecord, SnapshotRecord } from "../model/records.ts";

/** Completed snapshots of an instance in its own region, earliest first. Earlier times than the first one cannot be restored. */
export function restorePoints(
  { store }: { readonly store: { readonly snapshots: { list(): readonly SnapshotRecord[] } } },
  { id, region }: Pick<InstanceRecord, "id" | "region">,
): readonly SnapshotRecord[] {
  return store.snapshots
    .list()
    .filter((snapshot) => snapshot.sourceInstanceId === id && snapshot.status === "completed")
    .filter((snapshot) => snapshot.region === region && snapshot.copyOf === undefined)
    .sort((one, other) => pointOf(one) - pointOf(other));
}

/** Time of a snapshot's data, in ms since the epoch: it contains no later write. */
export function pointOf({ completedAt = "" }: SnapshotRecord): number {
  return Date.parse(completedAt);
}
