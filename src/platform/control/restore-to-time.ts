/** @module Restores the data that an instance had at a time, as a new instance. */
import type { Core } from "../core.ts";
import { findPlan } from "../model/plans.ts";
import type { InstanceRecord } from "../model/records.ts";
import { ServiceError } from "../model/service-error.ts";
import type { Fault } from "./fault-rule.ts";
import { pointOf, restorePoints } from "./restore-points.ts";
import { restoreSnapshot } from "./restore-snapshot.ts";

/** Options of a restore to a time. */
export interface TimeRequest {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly networkType: string | undefined;
}

/**
 * Creates an instance from the newest snapshot that was complete at the time, so that it contains no later write; returns its id.
 * Refused: tiers without backups and times outside the kept snapshots (400), an instance without a snapshot (409).
 */
export async function restoreToTime(
  core: Core,
  record: InstanceRecord,
  { time, networkType }: TimeRequest,
  fault: Fault,
): Promise<string> {
  const { id, tier } = record;
  if (findPlan(tier)?.hasBackups === false) throw new ServiceError(400, `backups are not offered by ${tier}`);
  if (time > Date.parse(core.timestamp()))
    throw new ServiceError(400, `targetRestoreTime ${timeText(time)} is in the future`);
  const kept = restorePoints(core, record);
  const [first] = kept;
  if (first === undefined)
    throw new ServiceError(
      409,
      `instance ${id} has no completed snapshot in ${record.region} to restore from`,
    );
  const source = kept.findLast((snapshot) => pointOf(snapshot) <= time);
  if (source === undefined)
    throw new ServiceError(
      400,
      `targetRestoreTime ${timeText(time)} is before the earliest restore time of instance ${id}, ${timeText(pointOf(first))}`,
    );
  const made = await restoreSnapshot(core, source, { networkType, customNetworkId: undefined }, fault);
  core.events.add(
    made,
    `restored to ${timeText(time)}: from snapshot ${source.id}, complete at ${timeText(pointOf(source))}; later writes are not in it`,
  );
  return made;
}

function timeText(time: number): string {
  return new Date(time).toISOString();
}
