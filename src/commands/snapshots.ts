/** @module A snapshot as commands print it for machines. */
import type { Snapshot } from "../kinds/instance-snapshots.ts";
import type { Json, JsonObject } from "../model/json.ts";

/** A snapshot as JSON, in our words. */
export function snapshotJson(snapshot: Snapshot): JsonObject {
  const { id, status, instanceId, type, cloudProvider, region, createdAt, completedAt, progress, encrypted } =
    snapshot;
  const all = {
    id,
    status,
    instanceId,
    type,
    cloudProvider,
    region,
    createdAt,
    completedAt,
    progress,
    encrypted,
  };
  return Object.fromEntries(
    Object.entries(all).flatMap(([key, value]): [string, Json][] =>
      value === undefined ? [] : [[key, value]],
    ),
  );
}
