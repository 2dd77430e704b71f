/** @module Runs one real database for each instance. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { defined } from "../../model/json.ts";
import {
  type Database,
  type DatabaseNode,
  type DatabaseSpec,
  type Engine,
  EngineError,
  hashOf,
  type TlsFiles,
} from "../engine/index.ts";
import type { InstanceTypes } from "../model/instance-types.ts";
import type { InstanceRecord } from "../model/records.ts";
import { specOf } from "./database-spec.ts";
import type { DatabaseListener, Databases } from "./databases.ts";
import {
  describeDatabase,
  isServing,
  needsRestart,
  type RealDatabase,
  watchDatabases,
} from "./real-database.ts";

export interface RealDatabasesParts {
  readonly engine: Engine;
  readonly folder: string;
  readonly instanceTypes: InstanceTypes;
  readonly key: Buffer;
  /** Returns the certificate for databases with TLS, made on first use. */
  readonly tls: () => Promise<TlsFiles>;
  readonly listener: DatabaseListener;
  readonly signal: AbortSignal;
}

const renewals: { readonly [action: string]: "restart" | "recreate" } = {
  FAILOVER_AND_RESTART: "restart",
  FAILOVER_AND_RECREATE: "recreate",
};

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
    const spec = await specFor(record, seed);
    let entry: RealDatabase | undefined;
    const options = {
      ...defined({ failed }),
      notify: (what: string): void => listener.notice(id, what),
      onExit(node: DatabaseNode): void {
        if (entry?.isEnding !== true) listener.down(id, `node ${node.id} (process ${node.pid}) ended`);
      },
    };
    const database = await engine.start(spec, signal, options).catch((error: unknown) => {
      // A user may be the reason: it is then added to the running database, whose refusal names the cause.
      if (record.users.length === 0 || !(error instanceof EngineError) || error.code !== "engine-start")
        throw error;
      return engine.start({ ...spec, users: [] }, signal, options).catch(() => {
        throw error;
      });
    });
    const instanceType = String(record.params["nodeInstanceType"] ?? "");
    entry = { database, spec, instanceType, isEnding: false, suspect: undefined };
    running.set(id, entry);
    return entry;
  };

  /** Starts a database or restarts its missing nodes. It may serve although this rejects, if only a replica failed. */
  const start = async (record: InstanceRecord, seed?: string): Promise<RealDatabase> => {
    let entry = running.get(record.id);
    if (entry !== undefined && needsRestart(entry, record, await specFor(record))) {
      await stop(record);
      entry = undefined;
    }
    if (entry === undefined) entry = await open(record, seed);
    else await entry.database.revive(signal);
    entry.suspect = undefined;
    const trouble = entry.database.trouble();
    if (trouble !== undefined) throw trouble;
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

  /** A database that an earlier platform process left running; undefined if nothing runs. */
  const takeOver = async (record: InstanceRecord): Promise<RealDatabase | undefined> => {
    try {
      return (await engine.isRunning(dirOf(record.id))) ? await open(record) : undefined;
    } catch (error) {
      if (await engine.isRunning(dirOf(record.id))) throw error;
      return undefined;
    }
  };

  return {
    engine: { name: engine.name, version: engine.version, why: engine.why },
    start: async (record, snapshot) => describeDatabase(await start(record, snapshot)),
    stop,
    async restart(record) {
      await stop(record);
      return describeDatabase(await start(record));
    },
    async remove(record) {
      const entry = running.get(record.id);
      if (entry !== undefined) entry.isEnding = true;
      running.delete(record.id);
      await engine.destroy(dirOf(record.id));
    },
    async failover(record, failedNode, action) {
      const entry = running.get(record.id) ?? (await open(record, undefined, failedNode));
      await entry.database.failover(failedNode, renewals[action]);
      return describeDatabase(entry);
    },
    async backup(record, file) {
      // After a restart of the platform nothing has taken the database over yet.
      const { database } = running.get(record.id) ?? (await start(record));
      await database.snapshot(file);
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
    hasUsers: ({ id, users }) => running.get(id)?.database.hasUsers(users) ?? true,
    async applyUsers({ id, users }) {
      const entry = running.get(id);
      if (entry === undefined) throw new Error("the database does not run");
      return entry.database.applyUsers(users);
    },
    refusalOf: (acl) => ruleCheck.refusalOf(acl),
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

/** Creates a check of ACL rules. Its database runs while checks are pending, beside the instances' databases. */
function createRuleCheck(engine: Engine, folder: string, signal: AbortSignal) {
  const dir = join(folder, "rule-proof");
  const passwordHash = hashOf("proof");
  let pending = 0;
  let database: Promise<Database> | undefined;
  let ended: Promise<void> = Promise.resolve();

  /** Ends the database, also one of an earlier platform process that was killed. */
  const close = (): Promise<void> => {
    database = undefined;
    ended = ended.then(() => engine.destroy(dir)).catch(() => undefined);
    return ended;
  };
  const start = async (): Promise<Database> => {
    await ended;
    const password = randomBytes(24).toString("base64url");
    return engine.start({ dir, user: "default", password, nodes: 1, parameters: {} }, signal);
  };

  return {
    async refusalOf(acl: string): Promise<string | undefined> {
      pending += 1;
      database ??= start();
      try {
        const [refused] = await (await database).applyUsers([{ username: "proof", passwordHash, acl }]);
        return refused?.reason;
      } finally {
        pending -= 1;
        if (pending === 0) void close();
      }
    },
    close,
  };
}
