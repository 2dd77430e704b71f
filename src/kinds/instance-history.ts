/** @module Reads the snapshots and audit events of instances, and requests backups. */
import { answerValues } from "../hosting/wire/spelling.ts";
import type { AuditEvent } from "../model/drift.ts";
import { isServiceError } from "../model/errors.ts";
import { defined, type Json, objectsIn, textIn } from "../model/json.ts";
import type { Backup } from "../model/kind.ts";
import type { Reads, Service } from "../model/service.ts";

/** A snapshot as the service shows it; what it does not show is absent. */
export interface Snapshot {
  readonly id: string;
  readonly status: string;
  readonly instanceId?: string;
  readonly subscriptionId?: string;
  readonly type?: string;
  readonly cloudProvider?: string;
  readonly region?: string;
  /** ISO 8601, as the service writes it. */
  readonly createdAt?: string;
  /** Absent while it is not complete. */
  readonly completedAt?: string;
  /** Percent. */
  readonly progress?: number;
  readonly encrypted?: boolean;
  /** The reason that the service gives for a snapshot that failed, without secrets. */
  readonly failure?: string;
}

/** Lists the snapshots of a subscription, newest first; entries are read as the profile reads a described one. */
export async function listSnapshots(
  service: Reads,
  filter: { readonly type?: string; readonly environment?: string },
  signal: AbortSignal,
): Promise<readonly Snapshot[]> {
  const { values } = await service.read({ operation: "snapshot.list", params: defined(filter) }, signal);
  const names = service.profile.operations["snapshot.describe"]?.answer ?? {};
  return objectsIn(values["items"])
    .map((item) => snapshotOf(answerValues(item, names), service))
    .filter((snapshot) => snapshot.id !== "")
    .sort(
      (left, right) =>
        (right.createdAt ?? "").localeCompare(left.createdAt ?? "") || left.id.localeCompare(right.id),
    );
}

export async function describeSnapshot(service: Reads, id: string, signal: AbortSignal): Promise<Snapshot> {
  const { values } = await service.read({ operation: "snapshot.describe", params: { id } }, signal);
  return { ...snapshotOf(values, service), id };
}

/** Asks for a backup by the first operation that the service knows; gives the answer's id. Rejects with the last refusal. */
export async function askForBackup(
  service: Service,
  params: { readonly [name: string]: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { backupBy, operations } = service.profile;
  let refusal: unknown;
  for (const operation of backupBy.filter((name) => operations[name] !== undefined)) {
    const body = operation === "snapshot.create" ? { body: { instanceId: params["id"] ?? "" } } : {};
    try {
      const { values } = await service.write({ operation, params, ...body }, signal);
      return textIn(values["id"]);
    } catch (error) {
      if (!isServiceError(error, "not-found")) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

export async function backupsOf(
  service: Reads,
  instanceId: string,
  signal: AbortSignal,
): Promise<readonly Backup[]> {
  const all = await listSnapshots(service, {}, signal);
  return all.filter((snapshot) => snapshot.instanceId === instanceId).map(asBackup);
}

export function asBackup(snapshot: Snapshot): Backup {
  const is = { done: "completed", failed: "failed", pending: "pending" } as const;
  const { id, type, createdAt } = snapshot;
  return {
    id,
    is: is[snapshotPhase(snapshot)],
    detail: statusText(snapshot),
    isAutomatic: type?.toLowerCase().startsWith("automat") === true,
    ...defined({ createdAt }),
  };
}

export function showsSnapshotTimes({ profile }: Reads): boolean {
  return profile.operations["snapshot.describe"]?.answer["createdAt"] !== undefined;
}

/** A snapshot is complete if its status says so, and its progress, if it is shown, does not say otherwise. */
export function snapshotPhase({
  status,
  progress = 100,
}: Pick<Snapshot, "status" | "progress">): "done" | "failed" | "pending" {
  const word = status.toLowerCase();
  if (["failed", "cancelled", "error"].includes(word)) return "failed";
  const isDone = ["completed", "complete", "available", "success"].includes(word) && progress >= 100;
  return isDone ? "done" : "pending";
}

/** The status of a snapshot, with its progress while it is not complete, and with the reason of a failure. */
export function statusText({ status, progress, failure }: Snapshot): string {
  const isUnderWay = progress !== undefined && snapshotPhase({ status, progress }) === "pending";
  const why = failure === undefined ? "" : ` (${failure})`;
  return `${status === "" ? "without a status" : status}${isUnderWay ? ` ${progress} %` : ""}${why}`;
}

function snapshotOf(values: { readonly [name: string]: Json }, { hide }: Pick<Reads, "hide">): Snapshot {
  const { id, status, progress, encrypted, completedAt, failure } = values;
  const shown = ["instanceId", "subscriptionId", "type", "cloudProvider", "region", "createdAt"] as const;
  const texts: { [name in (typeof shown)[number]]?: string } = {};
  for (const name of shown) if (typeof values[name] === "string") texts[name] = values[name];
  return {
    ...{ id: textIn(id) ?? "", status: textIn(status) ?? "", ...texts },
    // The service writes the year 1 for a time that is not known yet.
    ...(typeof completedAt === "string" && !completedAt.startsWith("0001-") ? { completedAt } : {}),
    ...(typeof progress === "number" ? { progress } : {}),
    ...(typeof encrypted === "boolean" ? { encrypted } : {}),
    ...(typeof failure === "string" && failure !== "" ? { failure: hide(failure) } : {}),
  };
}

/** The parameters of a request about a snapshot: its id, and its subscription, or the instance that tells it. */
export function snapshotParams({ id, subscriptionId, instanceId }: Snapshot): {
  readonly [name: string]: string;
} {
  if (subscriptionId !== undefined) return { id, subscriptionId };
  return { id, ...defined({ instanceId }) };
}

/** Lists the events of an instance, newest first; none if the service shows none. */
export async function instanceEvents(
  service: Reads,
  id: string,
  signal: AbortSignal,
): Promise<readonly AuditEvent[]> {
  const { values } = await service.read({ operation: "instance.events", params: { id } }, signal);
  return objectsIn(values["items"])
    .map(({ time, message, userName }) => ({
      ...{ time: textIn(time) ?? "", message: textIn(message) ?? "" },
      ...(textIn(userName) ? { user: service.hide(String(userName)) } : {}),
    }))
    .sort((left, right) => right.time.localeCompare(left.time));
}
