/** @module Takes, copies, describes and deletes snapshots. */
import { rm } from "node:fs/promises";
import { fileTrouble } from "../../files/file-trouble.ts";
import { defined, type JsonObject } from "../../model/json.ts";
import type { Core } from "../core.ts";
import type { Dialect } from "../dialect/dialect.ts";
import { copyWhole } from "../engine/index.ts";
import { findPlan, versionOf } from "../model/plans.ts";
import { newId, type SnapshotRecord } from "../model/records.ts";
import { found, ServiceError } from "../model/service-error.ts";
import type { Fault } from "./faults.ts";
import { endSnapshot } from "./record-state.ts";

/** Starts a backup, by default into the instance's region; returns the snapshot's id. Refused (400) by some tiers. */
export async function takeSnapshot(
  core: Core,
  instanceId: string,
  fault: Fault,
  { type = "ManualSnapshot", region }: { type?: SnapshotRecord["type"]; region?: string | undefined } = {},
): Promise<string> {
  const tier = core.store.instances.get(instanceId)?.tier ?? "";
  if (findPlan(tier)?.hasBackups === false) throw new ServiceError(400, `backups are not offered by ${tier}`);
  const record = core.lifecycle.check(instanceId, "backup");
  const { component, subscriptionId, cloudProvider, params, planVersion, networkType } = record;
  const { customNetworkId, users } = record;
  const snapshot: SnapshotRecord = {
    id: newId("snapshot"),
    sourceInstanceId: instanceId,
    type,
    status: "pending",
    progress: 0,
    region: region ?? record.region,
    createdAt: core.timestamp(),
    ...{ tier, component, subscriptionId, cloudProvider, params, planVersion, networkType, customNetworkId },
    users,
  };
  await core.store.snapshots.add(snapshot);
  try {
    await core.lifecycle.operate(instanceId, "backup", fault, { snapshotId: snapshot.id });
  } catch (error) {
    // The client never got its id: a refused backup leaves no snapshot in the list.
    const removed = core.tasks.untilWritten(() => core.store.snapshots.remove(snapshot.id));
    core.tasks.run(instanceId, removed);
    throw error;
  }
  return snapshot.id;
}

export function findSnapshot(core: Core, id: string): SnapshotRecord {
  return found(core.store.snapshots.get(id), `snapshot ${id}`);
}

/** The latest completed snapshot of an instance; 409 without one. */
export function latestSnapshot(core: Core, instanceId: string): SnapshotRecord {
  const own = core.store.snapshots.list().filter((snapshot) => snapshot.sourceInstanceId === instanceId);
  const latest = own.filter((snapshot) => snapshot.status === "completed").at(-1);
  if (latest === undefined) throw new ServiceError(409, `instance ${instanceId} has no completed snapshot`);
  return latest;
}

/** Copies a completed snapshot to another region in the background; returns the id of the copy. */
export async function copySnapshot(
  core: Core,
  source: SnapshotRecord,
  region: string,
  fault: Fault,
): Promise<string> {
  completed(source, "copied");
  if (region === source.region) throw new ServiceError(400, `snapshot ${source.id} is in ${region} already`);
  const copy: SnapshotRecord = {
    ...source,
    id: newId("snapshot"),
    region,
    status: "pending",
    progress: 0,
    createdAt: core.timestamp(),
    completedAt: undefined,
    copyOf: source.id,
  };
  await core.store.snapshots.add({ ...copy, ...(fault.stuck === true ? { stuck: true } : {}) });
  if (fault.stuck !== true) core.tasks.run(copy.sourceInstanceId, finishCopy(core, copy, fault.failed));
  return copy.id;
}

async function finishCopy(core: Core, copy: SnapshotRecord, failed?: string): Promise<void> {
  const source = core.store.snapshots.get(copy.copyOf ?? "");
  const from = core.snapshotFile(source?.region ?? "", source?.id ?? "");
  const to = core.snapshotFile(copy.region, copy.id);
  try {
    if (failed !== undefined) throw new Error(failed);
    await copyWhole(from, to);
  } catch (error) {
    return endSnapshot(core, copy.id, `it could not be copied to ${copy.region}: ${fileTrouble(error)}`);
  }
  await endSnapshot(core, copy.id);
  core.events.add(copy.sourceInstanceId, `snapshot copied to ${copy.region}`);
}

/** Finishes copies that a restart of the platform interrupted, and fails backups that no operation will finish. */
export function recoverSnapshots(core: Core): void {
  for (const snapshot of core.store.snapshots.list()) {
    if (snapshot.status !== "pending" || snapshot.stuck === true) continue;
    const { id, sourceInstanceId } = snapshot;
    const operation = core.store.instances.get(sourceInstanceId)?.operation;
    if (snapshot.copyOf !== undefined) core.tasks.run(sourceInstanceId, finishCopy(core, snapshot));
    else if (operation?.snapshotId !== id) {
      const ended = endSnapshot(core, id, "the platform ended before it was begun");
      core.tasks.run(sourceInstanceId, ended);
    }
  }
}

export async function takeAutomatedSnapshots(core: Core): Promise<void> {
  for (const record of core.store.instances.list()) {
    if (core.tasks.closing.aborted) return;
    if (record.isAccount || record.status !== "RUNNING" || record.operation !== undefined) continue;
    await takeSnapshot(core, record.id, {}, { type: "AutomatedSnapshot" }).catch(() => undefined);
  }
}

/** Deletes a snapshot and its file; refused (409) while it is being made, copied or restored. */
export async function deleteSnapshot(core: Core, snapshot: SnapshotRecord): Promise<void> {
  if (snapshot.status === "pending" && snapshot.stuck !== true)
    throw new ServiceError(409, `snapshot ${snapshot.id} is still being made`);
  const copy = core.store.snapshots
    .list()
    .find((other) => other.copyOf === snapshot.id && other.status === "pending");
  if (copy !== undefined)
    throw new ServiceError(409, `snapshot ${snapshot.id} is being copied to ${copy.region}`);
  const reader = core.store.instances
    .list()
    .find(({ operation }) => operation?.name === "create" && operation.snapshotId === snapshot.id);
  if (reader !== undefined)
    throw new ServiceError(409, `instance ${reader.id} is being restored from snapshot ${snapshot.id}`);
  await core.store.snapshots.remove(snapshot.id);
  // The record is removed already; a file that stays does no harm.
  await rm(core.snapshotFile(snapshot.region, snapshot.id), { force: true }).catch((error: unknown) =>
    core.events.add(
      snapshot.sourceInstanceId,
      `the file of snapshot ${snapshot.id} could not be removed: ${fileTrouble(error)}`,
      true,
    ),
  );
}

export function describeSnapshot(dialect: Dialect, snapshot: SnapshotRecord): JsonObject {
  return {
    snapshotId: snapshot.id,
    sourceInstanceId: snapshot.sourceInstanceId,
    snapshotType: snapshot.type,
    status: dialect.snapshots.statuses[snapshot.status] ?? snapshot.status,
    progress: snapshot.progress,
    encrypted: false,
    cloudProvider: snapshot.cloudProvider,
    region: snapshot.region,
    createdTime: snapshot.createdAt,
    completeTime: snapshot.completedAt ?? "0001-01-01T00:00:00Z",
    productTierId: `pt-${snapshot.tier}`,
    productTierName: findPlan(snapshot.tier)?.name ?? snapshot.tier,
    ...(dialect.isVendors ? { productTierVersion: versionOf(snapshot) } : {}),
    ...defined({ subscriptionId: snapshot.subscriptionId }),
    ...(snapshot.failure === undefined ? {} : { snapshotMetadata: { failureReason: snapshot.failure } }),
  };
}

/** Throws 409 unless a snapshot is completed. `what` is the participle for the message, such as `restored`. */
export function completed({ id, status }: SnapshotRecord, what: string): void {
  if (status === "completed") return;
  throw new ServiceError(409, `snapshot ${id} is ${status}; only a completed one can be ${what}`);
}
