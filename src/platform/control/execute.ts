import type { Databases } from "../databases/databases.ts";
import { inTurn } from "../in-turn.ts";
import type { FailureRecord, InstanceRecord, OperationName, OperationRecord } from "../model/records.ts";
import type { Settings } from "../options.ts";
import { reasonOf } from "./database-repair.ts";
import { endSnapshot } from "./end-snapshot.ts";
import type { Fault } from "./fault-rule.ts";
import type { Work } from "./operation-handlers.ts";
import { type RecordStateParts, recordState, recordStateOrFailure, untilWritten } from "./record-state.ts";
import { transitions } from "./transitions.ts";

/** What carrying out an operation takes. */
export interface ExecuteParts extends RecordStateParts {
  readonly settings: Settings;
  readonly closing: AbortSignal;
  readonly handlers: { readonly [name in OperationName]: Work };
}

/**
 * Carries out an operation that was accepted, and writes down how it ended, as soon as that is possible. Nothing of it is lost when the
 * platform closes or is killed meanwhile: its record says that it is in progress until it has ended.
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
  await recordState(parts, id, { status: through });
  if (fault.stuck === true) return recordState(parts, id, { operation: { ...operation, stuck: true } });
  await wait(delay);
  if (fault.failed !== undefined) return failOnRequest(parts, id, operation, fault.failed);
  await inTurn(`instance ${id}`, async () => {
    const record = parts.store.instances.get(id);
    if (record === undefined) return;
    try {
      const outcome = await parts.handlers[name](record, operation);
      if (outcome === "gone") return await forget(parts, id);
      await recordState(parts, id, { failure: undefined, ...outcome, operation: undefined });
      parts.events.add(id, `${name} done: ${outcome.status}`);
    } catch (error) {
      if (!parts.closing.aborted) await fail(parts, id, name, reasonOf(error));
    }
  });
}

async function forget(parts: ExecuteParts, id: string): Promise<void> {
  const { store } = parts;
  for (const { id: snapshot, copyOf, sourceInstanceId, status } of store.snapshots.list()) {
    if (sourceInstanceId === id && status === "pending" && copyOf === undefined)
      await endSnapshot(parts, snapshot, "the instance was deleted meanwhile");
  }
  await untilWritten(parts.wait, () => store.instances.remove(id));
  parts.events.add(id, "deleted");
}

/**
 * An operation that failed leaves an instance that serves as it was before RUNNING; the failure stands beside it. What an update asked for is not in
 * force then, so that one is FAILED until it is; and what is being deleted is never brought back.
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

/** A backup that fails is a snapshot that failed; anything else is an instance that did. */
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
