/** @module Accepts operations on instances and runs them in the background, one at a time per instance. */

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { fileTrouble } from "../../files/file-trouble.ts";
import type { DatabaseListener } from "../databases/databases.ts";
import { inTurn } from "../in-turn.ts";
import type { InstanceRecord, OperationName, OperationRecord } from "../model/records.ts";
import { ServiceError } from "../model/service-error.ts";
import { createDatabaseRepair } from "./database-repair.ts";
import { type ExecuteParts, execute } from "./execute.ts";
import type { Fault } from "./fault-rule.ts";
import { type LifecycleParts, operationHandlers, transitions } from "./operation-handlers.ts";

/** Details of an operation, by its kind. */
export type OperationDetails = Partial<Omit<OperationRecord, "name" | "id" | "startedAt" | "stuck">>;

/** Operations on instances: accepted at once, executed in the background, one at a time per instance. */
export interface Lifecycle {
  /** Adds a new instance; resolves when it is on disk. */
  create(record: InstanceRecord, fault: Fault, details?: OperationDetails): Promise<void>;
  /** Throws the error that `operate` would throw: 404 for an unknown id, 409 for an operation that is not allowed now. */
  check(id: string, name: OperationName): InstanceRecord;
  /**
   * Accepts an operation. Throws ServiceError and changes nothing: 404 for an unknown id, 409 where the status or a running
   * operation does not allow it, 500 where it cannot be written.
   */
  operate(id: string, name: OperationName, fault: Fault, details?: OperationDetails): Promise<void>;
  /** Runs a task of an instance that is no operation; `close` waits for it, and its failure becomes an event. */
  background(id: string, task: Promise<void>): void;
  /** Restarts the databases that ran and continues interrupted operations. Resolves after one attempt for each database that ran. */
  recover(): Promise<void>;
  /** Receives the reports of the databases. */
  readonly listener: DatabaseListener;
  /** Aborted when the platform closes. */
  readonly closing: AbortSignal;
  /** Waits this many ms; rejects when the platform closes. */
  wait(ms: number): Promise<void>;
  /** Starts no new task and waits for the running ones; the next start of the platform continues the rest. */
  close(): Promise<void>;
}

export function createLifecycle(parts: LifecycleParts): Lifecycle {
  const { store, settings, events } = parts;
  const closing = new AbortController();
  const tasks = new Set<Promise<void>>();

  const run = (id: string, task: Promise<void>): void => {
    const tracked = task
      .catch((error: unknown) => {
        if (!closing.signal.aborted) events.add(id, `the platform failed: ${fileTrouble(error)}`, true);
      })
      .finally(() => tasks.delete(tracked));
    tasks.add(tracked);
  };
  const wait = async (ms: number): Promise<void> => {
    if (ms > 0) await sleep(ms, undefined, { signal: closing.signal });
    closing.signal.throwIfAborted();
  };
  const databaseRepair = createDatabaseRepair({ ...parts, wait, background: run, closing: closing.signal });
  const executing: ExecuteParts = {
    ...parts,
    wait,
    closing: closing.signal,
    handlers: operationHandlers({ ...parts, wait }),
  };
  const carryOut = async (id: string, operation: OperationRecord, fault: Fault): Promise<void> => {
    await execute(executing, id, operation, fault);
    await databaseRepair.repair(id);
  };

  /** Starts a database without a change of its status. */
  const startQuietly = (id: string): Promise<void> =>
    inTurn(`instance ${id}`, async () => {
      const record = store.instances.get(id);
      if (record !== undefined) await parts.databases().start(record);
    });

  const begin = (name: OperationName, details: OperationDetails = {}): OperationRecord => ({
    ...details,
    name,
    id: randomBytes(6).toString("hex"),
    startedAt: parts.timestamp(),
  });

  const check = (id: string, name: OperationName): InstanceRecord => {
    const record = store.instances.get(id);
    if (record === undefined) throw new ServiceError(404, `instance ${id} not found`);
    refuseUnlessAllowed(record, name);
    return record;
  };

  return {
    check,
    wait,
    background: run,

    async create(record, fault, details) {
      const operation = begin("create", details);
      await store.instances.add({ ...record, status: "PENDING", operation });
      events.add(record.id, `create accepted: ${record.tier}/${record.component} in ${record.region}`);
      run(record.id, carryOut(record.id, operation, fault));
    },

    async operate(id, name, fault, details) {
      const operation = begin(name, details);
      const stale = fault.staleStatus ?? settings.staleStatus;
      const shown = stale > 0 ? {} : { status: transitions[name].through, lastModified: parts.timestamp() };
      const accepted = await store.instances.update(id, (record) => {
        refuseUnlessAllowed(record, name);
        return { ...record, ...shown, operation };
      });
      if (accepted === undefined) throw new ServiceError(404, `instance ${id} not found`);
      events.add(id, `${name} accepted`);
      run(id, carryOut(id, operation, fault));
    },

    async recover() {
      const firstAttempts: Promise<void>[] = [];
      for (const record of store.instances.list()) {
        const { id, operation, power, failure } = record;
        if (record.isAccount) continue;
        if (operation !== undefined && operation.stuck !== true) run(id, carryOut(id, operation, {}));
        else if (operation?.stuck === true || failure?.byFault === true) {
          // A fault fixed its status; its database is started all the same.
          if (power === "running" && record.nodes.length > 0) run(id, startQuietly(id));
        } else if (record.status === "FAILED") run(id, databaseRepair.repair(id));
        else firstAttempts.push(databaseRepair.repair(id));
      }
      await Promise.all(firstAttempts);
    },

    listener: {
      down(id, reason) {
        if (store.instances.get(id) !== undefined) run(id, databaseRepair.down(id, `database: ${reason}`));
      },
      notice(id, what) {
        events.add(id, what, true);
      },
    },

    closing: closing.signal,
    async close() {
      closing.abort();
      await Promise.allSettled([...tasks]);
    },
  };
}

function refuseUnlessAllowed(record: InstanceRecord, name: OperationName): void {
  const { operation, status } = record;
  const isRescue = name === "delete" && operation?.stuck === true;
  if (operation !== undefined && !isRescue) {
    throw new ServiceError(
      409,
      `instance ${record.id}: operation is already in progress (${operation.name})`,
    );
  }
  const { from } = transitions[name];
  if (from !== undefined && !from.includes(status)) {
    throw new ServiceError(409, `instance ${record.id} is ${status}; ${name} needs ${from.join(" or ")}`);
  }
  if (name === "delete" && record.deletionProtection) {
    throw new ServiceError(409, `instance ${record.id} has deletion protection; clear it first`);
  }
}
