import type { InstanceRecord, SnapshotRecord } from "../model/records.ts";

/** Completed snapshots of an instance in its own region, earliest first: the times that it can be restored to begin with the first. */
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

/** The time from which on a snapshot is the state of its source: no write after it is in it. */
export function pointOf({ completedAt = "" }: SnapshotRecord): number {
  return Date.parse(completedAt);
}
