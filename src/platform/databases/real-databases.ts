/** @module Runs one real database for each instance. */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  type Database,
  type DatabaseSpec,
  type Engine,
  EngineError,
  type StartOptions,
  type TlsFiles,
} from "../engine/index.ts";
import type { InstanceTypes } from "../model/instance-types.ts";
import { nodesOf } from "../model/plans.ts";
import type { InstanceRecord, UserRecord } from "../model/records.ts";
import { specOf } from "./database-spec.ts";
import { createRuleCheck, databaseUsers } from "./database-users.ts";
import type { DatabaseListener, Databases } from "./databases.ts";
import {
  describeDatabase,
  isServing,
  needsRestart,
  type RealDatabase,
  renameNodes,
  withNodeNames,
} from "./real-database.ts";
import { watchDatabases } from "./watch-databases.ts";

/** Options of `createRealDatabases`. */
export interface RealDatabasesParts {
  readonly engine: Engine;
  /** Folder with one subfolder per database. */
  readonly folder: string;
  readonly instanceTypes: InstanceTypes;
  readonly key: Buffer;
  /** Returns the certificate for databases with TLS, made on first use. */
  readonly tls: () => Promise<TlsFiles>;
  readonly listener: DatabaseListener;
  /** Aborts starts in progress. */
  readonly signal: AbortSignal;
}

const renewals: { readonly [action: string]: "restart" | "recreate" } = {
  FAILOVER_AND_RESTART: "restart",
  FAILOVER_AND_RECREATE: "recreate",
};

/** Databases of processes on this machine; `listener` gets what happens to them. */
export function createRealDatabases(parts: RealDatabasesParts): Databases {
  const { engine, listener, signal } = parts;
  const running = new Map<string, RealDatabase>();
  const dirOf = (id: string): string => join(parts.folder, id);
  const ruleCheck = createRuleCheck(engine, parts.folder, signal);
  void ruleCheck.close();
  const stopWatching = watchDatabases(running, listener);

  const specFor = async (record: InstanceRecord, seed?: string): Promise<DatabaseSpec> => {
    const tls = record.params["enableTLS"] === true ? await parts.tls() : undefined;
    return specOf(record, { ...parts, dir: dirOf(record.id), tls, seed });
  };

  const open = async (record: InstanceRecord, seed?: string, failed?: string): Promise<RealDatabase> => {
    const { id } = record;
    const [spec, ids] = [await specFor(record, seed), nodesOf(record)];
    const notify = (what: string): void => listener.notice(id, renameNodes(what, ids));
    const options: StartOptions = failed === undefined ? { notify } : { notify, failed };
    const started = startWithUsers(engine, spec, record.users, signal, options);
    const { database, users } = await withNodeNames(ids, started);
    const entry: RealDatabase = {
      database,
      users: databaseUsers(database, users),
      spec,
      instanceType: String(record.params["nodeInstanceType"] ?? ""),
      ids,
      isEnding: false,
      suspect: undefined,
    };
    running.set(id, entry);
    database.onExit((node) => {
      if (!entry.isEnding) listener.down(id, `node ${renameNodes(node.id, ids)} (process ${node.pid}) ended`);
    });
    return entry;
  };

  /** Starts a database or restarts its missing nodes. It may serve although this rejects, where only a replica failed. */
  const start = async (record: InstanceRecord, seed?: string): Promise<RealDatabase> => {
    let entry = running.get(record.id);
    if (entry !== undefined && needsRestart(entry, record, await specFor(record))) {
      await stop(record);
      entry = undefined;
    }
    if (entry === undefined) entry = await open(record, seed);
    else await withNodeNames(entry.ids, entry.database.revive(signal));
    entry.suspect = undefined;
    const trouble = entry.database.trouble();
    if (trouble !== undefined) throw new Error(renameNodes(trouble.message, entry.ids), { cause: trouble });
    return entry;
  };

  const stop = async (record: InstanceRecord): Promise<void> => {
    const entry = running.get(record.id) ?? (await takeOver(record));
    if (entry === undefined) return;
    entry.isEnding = true;
    try {
      await entry.database.stop();
      running.delete(record.id);
    } catch (error) {
      entry.isEnding = false;
      throw error;
    }
  };

  /** A database that an earlier platform process left running; undefined where nothing runs. */
  const takeOver = async (record: InstanceRecord): Promise<RealDatabase | undefined> => {
    try {
      return (await engine.isRunning(dirOf(record.id))) ? await open(record) : undefined;
    } catch (error) {
      if (await engine.isRunning(dirOf(record.id))) throw error;
      return undefined;
    }
  };

  const runningDatabase = (record: InstanceRecord): RealDatabase => {
    const entry = running.get(record.id);
    if (entry === undefined) throw new Error("the database does not run");
    return entry;
  };

  return {
    engine: { name: engine.name, version: engine.version, why: engine.why },
    start: async (record, snapshot) => describeDatabase(await start(record, snapshot)),
    stop,
    async restart(record) {
      await stop(record);
      return describeDatabase(await start(record));
    },
    async update(record, restarts) {
      if (restarts) await stop(record);
      return describeDatabase(await start(record));
    },
    async remove(record) {
      const entry = running.get(record.id);
      if (entry !== undefined) entry.isEnding = true;
      running.delete(record.id);
      await engine.destroy(dirOf(record.id));
    },
    async failover(record, failedNode, action) {
      const failed = `node-${nodesOf(record).indexOf(failedNode)}`;
      const entry = running.get(record.id) ?? (await open(record, undefined, failed));
      await withNodeNames(entry.ids, entry.database.failover(failed, renewals[action]));
      return describeDatabase(entry);
    },
    async backup(record, file) {
      const { database, ids } = runningDatabase(record);
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await withNodeNames(ids, database.snapshot(file));
    },
    seen(id) {
      const entry = running.get(id);
      return entry === undefined ? undefined : describeDatabase(entry);
    },
    serves(id) {
      const entry = running.get(id);
      return entry !== undefined && isServing(entry);
    },
    async isUp(record) {
      const entry = running.get(record.id);
      if (entry === undefined || !isServing(entry) || entry.database.halted().length > 0) return false;
      const isWhole = describeDatabase(entry).nodes.every(({ isDown }) => isDown !== true);
      return isWhole && !needsRestart(entry, record, await specFor(record));
    },
    hasUsers: ({ id, users }) => running.get(id)?.users.have(users) ?? true,
    applyUsers: (record) => runningDatabase(record).users.put(record.users),
    checkRules: (rules) => ruleCheck.check(rules),
    async abandon() {
      stopWatching();
      for (const entry of running.values()) entry.isEnding = true;
      await Promise.all([...running.keys()].map((id) => engine.endOrphans(dirOf(id))));
      running.clear();
    },
    async close() {
      stopWatching();
      await ruleCheck.close();
      const all = [...running.values()];
      for (const entry of all) entry.isEnding = true;
      await Promise.allSettled(all.map((entry) => entry.database.stop()));
      running.clear();
    },
  };
}

/**
 * Starts a database with its users, or without them where that fails. Resolves with the users that it was started with. Rejects as
 * `Engine.start`, with the first error.
 */
async function startWithUsers(
  engine: Engine,
  spec: DatabaseSpec,
  users: readonly UserRecord[],
  signal: AbortSignal,
  options: StartOptions = {},
): Promise<{ readonly database: Database; readonly users: readonly UserRecord[] }> {
  try {
    return { database: await engine.start(spec, signal, options), users };
  } catch (error) {
    if (users.length === 0 || !(error instanceof EngineError) || error.code !== "engine-start") throw error;
    const database = await engine.start({ ...spec, users: [] }, signal, options).catch(() => {
      throw error;
    });
    return { database, users: [] };
  }
}
