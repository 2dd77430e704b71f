/** @module A snapshot as commands print it for machines, and one that is not there. */

import type { Snapshot } from "../kinds/instance-snapshots.ts";
import { GraphformError } from "../model/errors.ts";
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

/** The error of a snapshot that the service does not know. */
export function unknownSnapshot(id: string): GraphformError {
  return new GraphformError("snapshot-unknown", `there is no snapshot ${id}`, {
    hint: "graphform snapshot list shows what there is",
  });
}
