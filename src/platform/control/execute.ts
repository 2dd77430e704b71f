/** @module Executes an accepted operation and records how it ended. */
import { fileTrouble } from "../../files/file-trouble.ts";
import type { Databases } from "../databases/databases.ts";
import { inTurn } from "../in-turn.ts";
import type { FailureRecord, InstanceRecord, OperationName, OperationRecord } from "../model/records.ts";
import type { Settings } from "../options.ts";
import type { Fault } from "./fault-rule.ts";
import { type OperationHandler, transitions } from "./operation-handlers.ts";
import {
  endSnapshot,
  noteState,
  type RecordStateParts,
  recordState,
  recordStateOrFailure,
  untilWritten,
} from "./record-state.ts";

/** Options of `execute`. */
export interface ExecuteParts extends RecordStateParts {
  readonly settings: Settings;
  readonly closing: AbortSignal;
  readonly handlers: { readonly [name in OperationName]: OperationHandler };
}

/**
 * Resolves when the operation has ended. It survives the end of the platform: a platform that finds it in progress in the record
 * carries it out again.
 */
export async function execute(
  parts: ExecuteParts,
  id: string,
  operation: OperationRecord,
  fault: Fault,
): Promise<void> {
  const { settings, wait } = parts;
  const { name } = operation;
  const delay = settings.delayOf(name);
  const stale = fault.staleStatus ?? settings.staleStatus;
  await wait(name === "create" ? Math.max(stale, delay / 4) : stale);
  const { through } = transitions[name];
  noteState(parts, id, { status: through });
  if (fault.stuck === true) return noteState(parts, id, { operation: { ...operation, stuck: true } });
  await wait(delay);
  if (fault.failed !== undefined) return failOnRequest(parts, id, operation, fault.failed);
  await inTurn(`instance ${id}`, async () => {
    const record = parts.store.instances.get(id);
    if (record === undefined) return;
    try {
      const outcome = await parts.handlers[name](record, operation);
      if (outcome === "gone") return await removeInstance(parts, id);
      await recordState(parts, id, { failure: undefined, ...outcome, operation: undefined });
      parts.events.add(id, `${name} done: ${outcome.status}`);
    } catch (error) {
      if (!parts.closing.aborted) await fail(parts, id, name, fileTrouble(error));
    }
  });
}

async function removeInstance(parts: ExecuteParts, id: string): Promise<void> {
  const { store } = parts;
  for (const { id: snapshot, copyOf, sourceInstanceId, status } of store.snapshots.list()) {
    if (sourceInstanceId === id && status === "pending" && copyOf === undefined)
      await endSnapshot(parts, snapshot, "the instance was deleted meanwhile");
  }
  await untilWritten(parts.wait, () => store.instances.remove(id));
  parts.events.add(id, "deleted");
}

/**
 * Records a failure. An instance that still serves as before is RUNNING, with the failure beside it. A failed update leaves it
 * FAILED, since its new settings are not applied; a failed delete too, since it is never undone.
 */
async function fail(parts: ExecuteParts, id: string, name: OperationName, reason: string): Promise<void> {
  const databases: Databases = parts.databases();
  parts.events.add(id, `${name} failed: ${reason}`, true);
  const isAsBefore = name !== "update" && name !== "delete" && databases.serves(id);
  const failure: FailureRecord = { at: parts.timestamp(), reason, of: name };
  const power: Partial<InstanceRecord> =
    name === "start" || name === "create"
      ? { power: "running" }
      : name === "delete"
        ? { power: "stopped" }
        : {};
  const ended = { ...power, ...databases.seen(id), operation: undefined, failure };
  await recordStateOrFailure(parts, id, isAsBefore ? "RUNNING" : "FAILED", ended);
}

/** Records a failure that a fault asked for: a backup makes its snapshot FAILED, any other operation its instance. */
async function failOnRequest(
  parts: ExecuteParts,
  id: string,
  operation: OperationRecord,
  reason: string,
): Promise<void> {
  const { name, snapshotId = "" } = operation;
  const failure: FailureRecord = { at: parts.timestamp(), reason, of: name, byFault: name !== "backup" };
  parts.events.add(id, `${name} failed: ${reason}`, true);
  if (name === "backup") await endSnapshot(parts, snapshotId, reason);
  const status = name === "backup" ? "RUNNING" : "FAILED";
  await recordState(parts, id, { status, operation: undefined, failure });
}
