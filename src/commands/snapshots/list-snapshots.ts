/** @module Lists the snapshots of a service, and reads one. */
import {
  describeSnapshot,
  listSnapshots,
  type Snapshot,
  snapshotPhase,
} from "../../kinds/instance-history.ts";
import { exitCodes, GraphformError, isServiceError } from "../../model/errors.ts";
import { defined, type JsonObject } from "../../model/json.ts";
import type { Reads } from "../../model/service.ts";
import { jsonText } from "../../report/json-text.ts";
import type { ManifestOptions } from "../options.ts";
import { tableText } from "../terminal/table-text.ts";
import { type Invocation, withService } from "../with-run.ts";

/** Options of `snapshot list`. */
export interface SnapshotListOptions extends ManifestOptions {
  readonly type?: "manual" | "automated";
  readonly environment?: string;
  readonly json?: boolean;
}

const wireTypes = { manual: "ManualSnapshot", automated: "AutomatedSnapshot" } as const;

/** `snapshot list`: prints the snapshots of the service, newest first. */
export async function snapshotList(invocation: Invocation<SnapshotListOptions>): Promise<number> {
  const { options, terminal } = invocation;
  const { type, environment, json = false } = options;
  return withService(invocation, async ({ service, signal }) => {
    const filter = defined({ type: type && wireTypes[type], environment });
    const snapshots = await listSnapshots(service, filter, signal);
    if (json) terminal.out(`${jsonText(snapshots.map(snapshotJson))}\n`);
    else if (snapshots.length === 0) terminal.out("No snapshots.\n");
    else {
      const heading = ["snapshot", "instance", "type", "status", "region", "created", "completed"];
      terminal.out(tableText(heading, snapshots.map(rowOf), terminal));
    }
    return exitCodes.done;
  });
}

function rowOf(snapshot: Snapshot): readonly string[] {
  const { id, type, status, progress, cloudProvider } = snapshot;
  const { instanceId = "-", region = "-", createdAt = "-", completedAt = "-" } = snapshot;
  const isUnderWay = snapshotPhase(status) === "pending" && progress !== undefined;
  return [
    id,
    instanceId,
    type?.replace(/Snapshot$/, "").toLowerCase() ?? "-",
    isUnderWay ? `${status} ${progress} %` : status || "-",
    cloudProvider === undefined ? region : `${cloudProvider}/${region}`,
    createdAt,
    completedAt,
  ];
}

/** A snapshot as JSON, without undefined fields. */
export function snapshotJson(snapshot: Snapshot): JsonObject {
  const { id, status, instanceId, type, cloudProvider, region } = snapshot;
  const { createdAt, completedAt, progress, encrypted } = snapshot;
  const known = { instanceId, type, cloudProvider, region, createdAt, completedAt, progress, encrypted };
  return { id, status, ...defined(known) };
}

/** Reads a snapshot. Throws `snapshot-unknown`. */
export async function snapshotAt(service: Reads, id: string, signal: AbortSignal): Promise<Snapshot> {
  try {
    return await describeSnapshot(service, id, signal);
  } catch (error) {
    if (!isServiceError(error, "not-found")) throw error;
    throw new GraphformError("snapshot-unknown", `there is no snapshot ${id}`, {
      hint: "graphform snapshot list shows all snapshots",
    });
  }
}
