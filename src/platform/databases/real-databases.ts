import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { DatabaseSpec, Engine, StartOptions, TlsFiles } from "../engine/index.ts";
import type { InstanceTypes } from "../model/instance-types.ts";
import { nodesOf } from "../model/plans.ts";
import type { InstanceRecord } from "../model/records.ts";
import { specOf } from "./database-spec.ts";
import { databaseUsers } from "./database-users.ts";
import type { DatabaseListener, Databases } from "./databases.ts";
import { named, namingNodes, needsRestart, type RealDatabase, shown } from "./real-database.ts";
import { createRuleProof } from "./rule-proof.ts";
import { startWithUsers } from "./start-with-users.ts";
import { watchDatabases } from "./watch-databases.ts";

/** What real databases need besides their engine. */
export interface RealDatabasesParts {
  readonly engine: Engine;
  /** Folder with one subfolder for each database. */
  readonly folder: string;
  readonly instanceTypes: InstanceTypes;
  readonly key: Buffer;
  /** Certificate for databases that serve over TLS; made at the first that does. */
  readonly tls: () => Promise<TlsFiles>;
  readonly listener: DatabaseListener;
  /** Ends starts that are under way. */
  readonly signal: AbortSignal;
}

const renewals: { readonly [action: string]: "restart" | "recreate" } = {
  FAILOVER_AND_RESTART: "restart",
  FAILOVER_AND_RECREATE: "recreate",
};

/** One real database for each instance; what happens to it is reported. */
export function createRealDatabases(parts: RealDatabasesParts): Databases {
  const { engine, listener, signal } = parts;
  const running = new Map<string, RealDatabase>();
  const dirOf = (id: string): string => join(parts.folder, id);
  const proof = createRuleProof(engine, parts.folder, signal);
  void proof.close();
  const stopWatching = watchDatabases(running, listener);

  const wanted = async (record: InstanceRecord, seed?: string): Promise<DatabaseSpec> => {
    const tls = record.params["enableTLS"] === true ? await parts.tls() : undefined;
    return specOf(record, { ...parts, dir: dirOf(record.id), tls, seed });
  };

  const open = async (record: InstanceRecord, seed?: string, failed?: string): Promise<RealDatabase> => {
    const { id } = record;
    const [spec, ids] = [await wanted(record, seed), nodesOf(record)];
    const tell = (what: string): void => listener.told(id, named(what, ids));
    const options: StartOptions = failed === undefined ? { tell } : { tell, failed };
    const started = startWithUsers(engine, spec, record.users, signal, options);
    const { database, users } = await namingNodes(ids, started);
    const one: RealDatabase = {
      database,
      users: databaseUsers(database, users),
      spec,
      instanceType: String(record.params["nodeInstanceType"] ?? ""),
      ids,
      isEnding: false,
      isSuspect: false,
    };
    running.set(id, one);
    database.onExit((node) => {
      if (!one.isEnding) listener.down(id, `node ${named(node.id, ids)} (process ${node.pid}) ended`);
    });
    return one;
  };

  /** Brings a database up or back; it serves also where this rejects because of a replica. */
  const start = async (record: InstanceRecord, seed?: string): Promise<RealDatabase> => {
    let one = running.get(record.id);
    if (one !== undefined && needsRestart(one, record, await wanted(record))) {
      await stop(record);
      one = undefined;
    }
    if (one === undefined) one = await open(record, seed);
    else await namingNodes(one.ids, one.database.revive(signal));
    one.isSuspect = false;
    const trouble = one.database.trouble();
    if (trouble !== undefined) throw new Error(named(trouble.message, one.ids), { cause: trouble });
    return one;
  };

  const stop = async (record: InstanceRecord): Promise<void> => {
    const one = running.get(record.id) ?? (await takeOver(record));
    if (one === undefined) return;
    one.isEnding = true;
    try {
      await one.database.stop();
      running.delete(record.id);
    } catch (error) {
      one.isEnding = false;
      throw error;
    }
  };

  /** The database that an earlier platform left behind; undefined where nothing runs. */
  const takeOver = async (record: InstanceRecord): Promise<RealDatabase | undefined> => {
    try {
      return (await engine.isRunning(dirOf(record.id))) ? await open(record) : undefined;
    } catch (error) {
      if (await engine.isRunning(dirOf(record.id))) throw error;
      return undefined;
    }
  };

  const need = (record: InstanceRecord): RealDatabase => {
    const one = running.get(record.id);
    if (one === undefined) throw new Error("the database does not run");
    return one;
  };

  return {
    engine: { name: engine.name, version: engine.version, why: engine.why },
    start: async (record, snapshot) => shown(await start(record, snapshot)),
    stop,
    async restart(record) {
      await stop(record);
      return shown(await start(record));
    },
    update: async (record) => shown(await start(record)),
    async remove(record) {
      const one = running.get(record.id);
      if (one !== undefined) one.isEnding = true;
      running.delete(record.id);
      await engine.destroy(dirOf(record.id));
    },
    async failover(record, failedNode, action) {
      const failed = `node-${nodesOf(record).indexOf(failedNode)}`;
      // One that can be brought up as it is loses nothing by the failover.
      const one = running.get(record.id) ?? (await open(record).catch(() => open(record, undefined, failed)));
      await namingNodes(one.ids, one.database.failover(failed, renewals[action]));
      return shown(one);
    },
    async backup(record, file) {
      const { database, ids } = need(record);
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await namingNodes(ids, database.snapshot(file));
    },
    seen(id) {
      const one = running.get(id);
      return one === undefined ? undefined : shown(one);
    },
    serves(id) {
      const one = running.get(id);
      if (one === undefined || one.isEnding || one.isSuspect) return false;
      return !one.database.down().some(({ role }) => role === "primary");
    },
    async isUp(record) {
      const one = running.get(record.id);
      if (one === undefined || one.isEnding || one.isSuspect || one.database.trouble() !== undefined)
        return false;
      const bad = [...one.database.down(), ...one.database.halted()];
      return bad.length === 0 && !needsRestart(one, record, await wanted(record));
    },
    hasUsers: ({ id, users }) => running.get(id)?.users.have(users) ?? true,
    applyUsers: (record) => need(record).users.put(record.users),
    proveRules: (rules) => proof.prove(rules),
    async abandon() {
      stopWatching();
      for (const one of running.values()) one.isEnding = true;
      await Promise.all([...running.keys()].map((id) => engine.endHomeless(dirOf(id))));
      running.clear();
    },
    async close() {
      stopWatching();
      await proof.close();
      const all = [...running.values()];
      for (const one of all) one.isEnding = true;
      await Promise.allSettled(all.map((one) => one.database.stop()));
      running.clear();
    },
  };
}
