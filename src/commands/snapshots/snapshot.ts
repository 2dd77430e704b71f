/** @module Reads a snapshot for a command, and formats it as JSON. */
import { describeSnapshot, type Snapshot, snapshotPhase } from "../../kinds/instance-snapshots.ts";
import { GraphformError, isServiceError } from "../../model/errors.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import type { Reads } from "../../model/service.ts";

/** A snapshot as JSON, without undefined fields. */
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

/** Creates the error `snapshot-unknown`. */
export function unknownSnapshot(id: string): GraphformError {
  return new GraphformError("snapshot-unknown", `there is no snapshot ${id}`, {
    hint: "graphform snapshot list shows all snapshots",
  });
}

/** Reads a complete snapshot; `toDo` is for the message. Throws `snapshot-unknown`, `snapshot-unfinished`. */
export async function completeSnapshot(
  service: Reads,
  id: string,
  toDo: string,
  signal: AbortSignal,
): Promise<Snapshot> {
  const source = await describeSnapshot(service, id, signal).catch((error: unknown) => {
    throw isServiceError(error, "not-found") ? unknownSnapshot(id) : error;
  });
  if (snapshotPhase(source.status) === "done") return source;
  throw new GraphformError(
    "snapshot-unfinished",
    `snapshot ${id} is ${source.status}, and only a complete one can be ${toDo}`,
    { hint: "graphform snapshot list shows its progress" },
  );
}
