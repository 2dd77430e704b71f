import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { DatabaseListener, Databases } from "./databases.ts";
import type { Events } from "./events.ts";
import type { Fault } from "./fault-rule.ts";
import type { Settings } from "./options.ts";
import type { InstanceRecord, OperationName, OperationRecord } from "./records.ts";
import { ServiceError } from "./service-error.ts";
import type { Store } from "./store.ts";
import { transitions } from "./transitions.ts";
import { withUsers } from "./with-users.ts";
import { workOf } from "./work.ts";

/** What an operation needs besides its name. */
export type OperationDetails = Partial<Omit<OperationRecord, "name" | "id" | "startedAt" | "stuck">>;

/** Changes of instances over time: accepted at once, done in the background, one at a time for each. */
export interface Lifecycle {
  /** Takes a new record in; resolves when it is safe on disk. */
  create(record: InstanceRecord, fault: Fault, details?: OperationDetails): Promise<void>;
  /** Throws what `operate` would refuse with: 404 for an unknown id, 409 for what is not allowed now. */
  check(id: string, name: OperationName): InstanceRecord;
  /** Accepts an operation: 404 for an unknown id, 409 for what the status or a running operation does not allow. */
  operate(id: string, name: OperationName, fault: Fault, details?: OperationDetails): Promise<void>;
  /** Work of an instance that is no operation of its own; waited for at the end, its failure an event. */
  background(id: string, task: Promise<void>): void;
  /** After a start: brings back what ran, and finishes what was in progress. Resolves when what ran, runs. */
  recover(): Promise<void>;
  /** What the databases report by themselves. */
  readonly listener: DatabaseListener;
  /** Aborted when the platform closes. */
  readonly closing: AbortSignal;
  /** Lets no new work begin and waits for what is at work; the rest is finished by the next start. */
  close(): Promise<void>;
}

/** What the lifecycle works with. `databases` is asked for late: databases report to the listener made here. */
export interface LifecycleParts {
  readonly store: Store;
  readonly settings: Settings;
  readonly events: Events;
  readonly databases: () => Databases;
  readonly snapshotFile: (region: string, snapshotId: string) => string;
  readonly timestamp: () => string;
}

/** Operations on a database that must be up before they can be taken up again. */
const needsDatabase = new Set<OperationName>(["update", "restart", "failover", "backup"]);

export function createLifecycle(parts: LifecycleParts): Lifecycle {
  const { store, settings, events } = parts;
  const closing = new AbortController();
  const tasks = new Set<Promise<void>>();
  const time = parts.timestamp;
  const work = workOf(parts);

  const change = async (id: string, patch: Partial<InstanceRecord>): Promise<void> => {
    const save = async (): Promise<void> => {
      const record = store.instances.get(id);
      if (record !== undefined) await store.instances.save({ ...record, ...patch, lastModified: time() });
    };
    await (patch.status === "RUNNING" ? withUsers({ ...parts, wait }, id, save) : save());
  };

  const run = (task: Promise<void>, id: string): void => {
    const tracked = task
      .catch((error: unknown) => {
        if (!closing.signal.aborted) events.add(id, `the platform failed: ${reasonOf(error)}`, true);
      })
      .finally(() => tasks.delete(tracked));
    tasks.add(tracked);
  };

  const wait = async (ms: number): Promise<void> => {
    if (ms > 0) await sleep(ms, undefined, { signal: closing.signal });
    closing.signal.throwIfAborted();
  };

  const fail = async (id: string, reason: string): Promise<void> => {
    events.add(id, `failed: ${reason}`, true);
    await change(id, { status: "FAILED", operation: undefined, failure: { at: time(), reason } });
  };

  const execute = async (id: string, operation: OperationRecord, fault: Fault): Promise<void> => {
    const { name } = operation;
    const delay = settings.delayOf(name);
    const stale = fault.staleStatus ?? settings.staleStatus;
    await wait(name === "create" ? Math.max(stale, delay / 4) : stale);
    const { through } = transitions[name];
    if (store.instances.get(id)?.status !== through) await change(id, { status: through });
    if (fault.stuck === true) return change(id, { operation: { ...operation, stuck: true } });
    await wait(delay);
    if (fault.failed !== undefined) {
      await work.abandon(operation);
      return fail(id, fault.failed);
    }
    const record = store.instances.get(id);
    if (record === undefined) return;
    try {
      const patch = await work.run(record, operation);
      if (patch === "gone") {
        await store.instances.remove(id);
        events.add(id, "deleted");
      } else {
        await change(id, { failure: undefined, ...patch, operation: undefined });
        events.add(id, `${name} done: ${patch.status}`);
      }
    } catch (error) {
      if (!closing.signal.aborted) await fail(id, reasonOf(error));
    }
  };

  const begin = (name: OperationName, details: OperationDetails = {}): OperationRecord => ({
    ...details,
    name,
    id: randomBytes(6).toString("hex"),
    startedAt: time(),
  });

  const check = (id: string, name: OperationName): InstanceRecord => {
    const record = store.instances.get(id);
    if (record === undefined) throw new ServiceError(404, `instance ${id} not found`);
    refuseUnlessAllowed(record, name);
    return record;
  };

  return {
    check,
    background: (id, task) => run(task, id),

    async create(record, fault, details) {
      const operation = begin("create", details);
      await store.instances.save({ ...record, status: "PENDING", operation });
      events.add(record.id, `create accepted: ${record.tier}/${record.component} in ${record.region}`);
      run(execute(record.id, operation, fault), record.id);
    },

    async operate(id, name, fault, details) {
      const record = check(id, name);
      const operation = begin(name, details);
      const stale = fault.staleStatus ?? settings.staleStatus;
      const shown = stale > 0 ? {} : { status: transitions[name].through, lastModified: time() };
      await store.instances.save({ ...record, ...shown, operation });
      events.add(id, `${name} accepted`);
      run(execute(id, operation, fault), id);
    },

    async recover() {
      const revive = async (record: InstanceRecord): Promise<void> => {
        await store.instances.save({ ...record, status: "RESTARTING" });
        try {
          const database = await parts.databases().start(record);
          await change(record.id, { ...database, status: "RUNNING", failure: undefined });
          events.add(record.id, "running again after a restart of the platform");
        } catch (error) {
          if (!closing.signal.aborted) await fail(record.id, reasonOf(error));
        }
      };
      const resume = async (record: InstanceRecord, operation: OperationRecord): Promise<void> => {
        if (needsDatabase.has(operation.name))
          await parts
            .databases()
            .start(record)
            .catch(() => undefined);
        await execute(record.id, operation, {});
      };
      const coming: Promise<void>[] = [];
      for (const record of store.instances.list()) {
        if (record.isAccount) continue;
        const { operation } = record;
        if (operation?.stuck === true) continue;
        if (operation !== undefined) run(resume(record, operation), record.id);
        else if (record.power === "running" && record.status !== "FAILED") coming.push(revive(record));
      }
      await Promise.all(coming);
    },

    listener: {
      down(id, reason) {
        const record = store.instances.get(id);
        if (record === undefined || closing.signal.aborted) return;
        events.add(id, `database ended: ${reason}`, true);
        if (record.operation === undefined && record.status === "RUNNING")
          run(change(id, { status: "RESTARTING" }), id);
      },
      up(id, database) {
        const record = store.instances.get(id);
        if (record === undefined || closing.signal.aborted) return;
        events.add(id, "database serves again");
        if (record.operation !== undefined || record.status !== "RESTARTING") return;
        run(change(id, { ...database, status: "RUNNING" }), id);
      },
      lost(id, reason) {
        const record = store.instances.get(id);
        if (record === undefined || closing.signal.aborted || record.operation !== undefined) return;
        run(fail(id, reason), id);
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

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
