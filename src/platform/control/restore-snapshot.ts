/** @module Restores a snapshot, or the data that an instance had at a time, as a new instance. */

import { defined } from "../../model/json.ts";
import type { Core } from "../core.ts";
import { componentOfRecord } from "../dialect/dialect.ts";
import { findPlan, versionOf } from "../model/plans.ts";
import type { InstanceRecord, SnapshotRecord } from "../model/records.ts";
import { ServiceError } from "../model/service-error.ts";
import type { Fault } from "./fault-rule.ts";
import { createInstance } from "./new-instance.ts";
import { refuseUnfinished } from "./snapshots.ts";
import { checkPlacement } from "./validate.ts";

/** Options of a restore. */
export interface RestoreRequest {
  readonly networkType: string | undefined;
  readonly customNetworkId: string | undefined;
}

/**
 * Creates an instance from a completed snapshot, with the parameters, users and network that the source had; returns its id. Refused
 * (400) where that network cannot be used and the request names no other.
 */
export async function restoreSnapshot(
  core: Core,
  snapshot: SnapshotRecord,
  wanted: RestoreRequest,
  fault: Fault,
): Promise<string> {
  refuseUnfinished(snapshot, "restored");
  const { tier, component } = snapshot;
  const { networkType, customNetworkId } = wanted;
  checkPlacement(
    {
      ...defined({ network_type: networkType, custom_network_id: customNetworkId }),
    },
    { tier, component, instanceTypes: core.instanceTypes },
  );
  const found = componentOfRecord(core.dialect, snapshot);
  if (found === undefined) throw new ServiceError(409, `no service plan has ${tier}/${component}`);
  const network = customNetworkId ?? ownNetwork(core, snapshot, networkType);
  return createInstance(
    core,
    {
      tier,
      component,
      resourceId: found.component.resourceId,
      subscriptionId: snapshot.subscriptionId,
      cloudProvider: snapshot.cloudProvider,
      region: snapshot.region,
      networkType: networkType ?? (network === undefined ? snapshot.networkType : "INTERNAL"),
      customNetworkId: network,
      params: snapshot.params,
      planVersion: versionOf(snapshot),
      customTags: [],
      sourceSnapshotId: snapshot.id,
      users: snapshot.users ?? [],
    },
    fault,
    { snapshotId: snapshot.id },
  );
}

/** The network of the source, for an instance that is not public. */
function ownNetwork(
  core: Core,
  { customNetworkId, cloudProvider, region }: SnapshotRecord,
  networkType: string | undefined,
): string | undefined {
  if (customNetworkId === undefined || networkType === "PUBLIC") return undefined;
  const network = core.store.networks.get(customNetworkId);
  if (network?.cloudProvider === cloudProvider && network.region === region) return customNetworkId;
  const why = network === undefined ? "is gone" : `is in ${network.cloudProvider} ${network.region}`;
  throw new ServiceError(
    400,
    `the source was in custom network ${customNetworkId}, which ${why}; name a custom_network_id in ${cloudProvider} ${region}, or network_type PUBLIC`,
  );
}

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
