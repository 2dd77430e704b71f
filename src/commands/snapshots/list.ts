/** @module Lists the snapshots of a service. */
import {
  describeSnapshot,
  listSnapshots,
  type Snapshot,
  snapshotPhase,
} from "../../kinds/instance-history.ts";
import { exitCodes, GraphformError, isServiceError } from "../../model/errors.ts";
import { defined, type Json, type JsonObject } from "../../model/json.ts";
import type { Reads } from "../../model/service.ts";
import type { Settings } from "../../project/settings.ts";
import { jsonText } from "../../report/json-text.ts";
import type { ManifestOptions } from "../options.ts";
import { serviceTarget } from "../service-target.ts";
import { withServiceOf } from "../service-work.ts";
import { tableText } from "../terminal/table-text.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Options of `snapshot list`. */
export interface SnapshotListOptions extends ManifestOptions {
  readonly type?: "manual" | "automated";
  readonly environment?: string;
  readonly json?: boolean;
}

const wireTypes = { manual: "ManualSnapshot", automated: "AutomatedSnapshot" } as const;

/** `snapshot list`: prints the snapshots of the service, newest first. */
export async function snapshotList(
  options: SnapshotListOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const target = await serviceTarget(options, settings);
  return withServiceOf(target, options, settings, terminal, async ({ service, signal }) => {
    const { type, environment } = options;
    const filter = {
      ...(type === undefined ? {} : { type: wireTypes[type] }),
      ...defined({ environment }),
    };
    const snapshots = await listSnapshots(service, filter, signal);
    if (options.json === true) terminal.out(`${jsonText(snapshots.map(snapshotJson))}\n`);
    else if (snapshots.length === 0) terminal.out("No snapshots.\n");
    else {
      const heading = ["snapshot", "instance", "type", "status", "region", "created", "completed"];
      terminal.out(tableText(heading, snapshots.map(rowOf), terminal));
    }
    return exitCodes.done;
  });
}

function rowOf(snapshot: Snapshot): readonly string[] {
  const {
    id,
    instanceId = "-",
    type,
    cloudProvider,
    region = "-",
    createdAt = "-",
    completedAt = "-",
    progress,
  } = snapshot;
  const isUnderWay = snapshotPhase(snapshot.status) === "pending" && progress !== undefined;
  return [
    id,
    instanceId,
    type?.replace(/Snapshot$/, "").toLowerCase() ?? "-",
    isUnderWay ? `${snapshot.status} ${progress} %` : snapshot.status || "-",
    cloudProvider === undefined ? region : `${cloudProvider}/${region}`,
    createdAt,
    completedAt,
  ];
}

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
