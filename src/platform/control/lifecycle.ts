/** @module Accepts operations on instances and runs them in the background, one at a time per instance. */
import { randomBytes } from "node:crypto";
import { inTurn } from "../in-turn.ts";
import type { InstanceRecord, OperationName, OperationRecord } from "../model/records.ts";
import { found, ServiceError } from "../model/service-error.ts";
import { createDatabaseRepair } from "./database-repair.ts";
import type { Fault } from "./faults.ts";
import { execute, transitions } from "./operations.ts";
import type { Parts } from "./record-state.ts";

export type OperationDetails = Partial<Omit<OperationRecord, "name" | "id" | "startedAt" | "stuck">>;

export interface Lifecycle {
  /** Adds a new instance; resolves when it is on disk. */
  create(record: InstanceRecord, fault: Fault, details?: OperationDetails): Promise<void>;
  /** Throws the error that `operate` would throw: 404 for an unknown id, 409 for an operation that is not allowed now. */
  check(id: string, name: OperationName): InstanceRecord;
  /** Accepts an operation, or throws as `check` and changes nothing; 500 if it cannot be written. */
  operate(id: string, name: OperationName, fault: Fault, details?: OperationDetails): Promise<void>;
  /** Restarts the databases that ran and continues interrupted operations. Resolves after one attempt for each database that ran. */
  recover(): Promise<void>;
  /** Takes the report of the databases that one of them does not run as it should. */
  down(id: string, reason: string): void;
}

export function createLifecycle(parts: Parts): Lifecycle {
  const { store, settings, events, tasks, databases } = parts;
  const databaseRepair = createDatabaseRepair(parts);
  const carryOut = async (id: string, operation: OperationRecord, fault: Fault): Promise<void> => {
    await execute(parts, id, operation, fault);
    await databaseRepair.repair(id);
  };

  const startQuietly = (id: string): Promise<void> =>
    inTurn(`instance ${id}`, async () => {
      const record = store.instances.get(id);
      if (record !== undefined) await databases.start(record);
    });

  const begin = (name: OperationName, details: OperationDetails = {}): OperationRecord => ({
    ...details,
    name,
    id: randomBytes(6).toString("hex"),
    startedAt: parts.timestamp(),
  });

  return {
    check(id, name) {
      const record = found(store.instances.get(id), `instance ${id}`);
      refuseUnlessAllowed(record, name);
      return record;
    },

    async create(record, fault, details) {
      const operation = begin("create", details);
      await store.instances.add({ ...record, status: "PENDING", operation });
      events.add(record.id, `create accepted: ${record.tier}/${record.component} in ${record.region}`);
      tasks.run(record.id, carryOut(record.id, operation, fault));
    },

    async operate(id, name, fault, details) {
      const operation = begin(name, details);
      const stale = fault.staleStatus ?? settings.staleStatus;
      const shown = stale > 0 ? {} : { status: transitions[name].through, lastModified: parts.timestamp() };
      const accepted = await store.instances.update(id, (record) => {
        refuseUnlessAllowed(record, name);
        return { ...record, ...shown, operation };
      });
      found(accepted, `instance ${id}`);
      events.add(id, `${name} accepted`);
      tasks.run(id, carryOut(id, operation, fault));
    },

    async recover() {
      const firstAttempts: Promise<void>[] = [];
      for (const record of store.instances.list()) {
        const { id, operation, power, failure } = record;
        if (record.isAccount) continue;
        if (operation !== undefined && operation.stuck !== true) tasks.run(id, carryOut(id, operation, {}));
        else if (operation?.stuck === true || failure?.byFault === true) {
          // A fault fixed its status; its database is started nevertheless.
          if (power === "running" && record.nodes.length > 0) tasks.run(id, startQuietly(id));
        } else if (record.status === "FAILED") tasks.run(id, databaseRepair.repair(id));
        else firstAttempts.push(databaseRepair.repair(id));
      }
      await Promise.all(firstAttempts);
    },

    down(id, reason) {
      if (store.instances.get(id) !== undefined)
        tasks.run(id, databaseRepair.down(id, `database: ${reason}`));
    },
  };
}

function refuseUnlessAllowed(record: InstanceRecord, name: OperationName): void {
  const { id, operation, status } = record;
  const isRescue = name === "delete" && operation?.stuck === true;
  if (operation !== undefined && !isRescue)
    throw new ServiceError(409, `instance ${id}: operation is already in progress (${operation.name})`);
  const { from } = transitions[name];
  if (from !== undefined && !from.includes(status))
    throw new ServiceError(409, `instance ${id} is ${status}; ${name} needs ${from.join(" or ")}`);
  if (name === "delete" && record.deletionProtection)
    throw new ServiceError(409, `instance ${id} has deletion protection; clear it first`);
}
