import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { nodeIds, specOf } from "./database-spec.ts";
import { type DatabaseUsers, databaseUsers } from "./database-users.ts";
import type { DatabaseListener, Databases, RunningDatabase } from "./databases.ts";
import type { Database, DatabaseSpec, Engine, TlsFiles } from "./engine/index.ts";
import type { InstanceTypes } from "./instance-types.ts";
import type { InstanceRecord } from "./records.ts";
import { createRuleProof } from "./rule-proof.ts";
import { startWithUsers } from "./start-with-users.ts";

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
  /** Ends starts and revivals that are under way. */
  readonly signal: AbortSignal;
}

interface Running {
  readonly database: Database;
  readonly spec: DatabaseSpec;
  readonly instanceType: string;
  readonly ids: readonly string[];
  readonly users: DatabaseUsers;
  isReviving: boolean;
  /** Its end is wanted: an exit is no accident. */
  isEnding: boolean;
}

const longestPause = 5000;
const attempts = 20;

/** One real database for each instance; those that die are revived and reported. */
export function createRealDatabases(parts: RealDatabasesParts): Databases {
  const { engine, listener, signal } = parts;
  const running = new Map<string, Running>();
  const dirOf = (id: string): string => join(parts.folder, id);
  const proof = createRuleProof(engine, parts.folder, signal);
  void proof.close();

  const wanted = async (record: InstanceRecord, seed?: string): Promise<DatabaseSpec> => {
    const tls = record.params["enableTLS"] === true ? await parts.tls() : undefined;
    return specOf(record, { ...parts, dir: dirOf(record.id), tls, seed });
  };

  const start = async (record: InstanceRecord, seed?: string): Promise<Running> => {
    const known = running.get(record.id);
    if (known !== undefined && (await known.database.ping())) return known;
    if (known !== undefined) await stop(record);
    const spec = await wanted(record, seed);
    const { database, users } = await startWithUsers(engine, spec, record.users, signal);
    const one: Running = {
      database,
      users: databaseUsers(database, users),
      spec,
      instanceType: String(record.params["nodeInstanceType"] ?? ""),
      ids: nodeIds(record),
      isReviving: false,
      isEnding: false,
    };
    running.set(record.id, one);
    database.onExit((node) => void revive(record.id, one, `node ${node.id} (process ${node.pid}) ended`));
    return one;
  };

  const stop = async (record: InstanceRecord): Promise<void> => {
    const one = running.get(record.id) ?? (await start(record));
    one.isEnding = true;
    try {
      await one.database.stop();
      running.delete(record.id);
    } catch (error) {
      one.isEnding = false;
      throw error;
    }
  };

  const revive = async (id: string, one: Running, reason: string): Promise<void> => {
    if (one.isEnding || one.isReviving || signal.aborted) return;
    one.isReviving = true;
    listener.down(id, reason);
    let last: unknown;
    for (let attempt = 0; attempt < attempts && !one.isEnding && !signal.aborted; attempt += 1) {
      try {
        await one.database.revive(signal);
        one.isReviving = false;
        if (!one.isEnding) listener.up(id, shown(one));
        return;
      } catch (error) {
        last = error;
        await sleep(Math.min(100 * 2 ** attempt, longestPause), undefined, { ref: false, signal }).catch(
          () => undefined,
        );
      }
    }
    one.isReviving = false;
    if (one.isEnding || signal.aborted) return;
    listener.lost(
      id,
      `the database cannot be restarted: ${last instanceof Error ? last.message : String(last)}`,
    );
  };

  const need = (record: InstanceRecord): Running => {
    const one = running.get(record.id);
    if (one === undefined) throw new Error("the database does not run");
    return one;
  };

  return {
    engine: { name: engine.name, version: engine.version, why: engine.why },
    start: async (record, snapshot) => shown(await start(record, snapshot)),
    stop,
    async restart(record) {
      if (running.has(record.id)) await stop(record);
      return shown(await start(record));
    },
    async update(record) {
      const one = running.get(record.id);
      if (one !== undefined && needsRestart(one, record, await wanted(record))) await stop(record);
      return shown(await start(record));
    },
    async remove(record) {
      const one = running.get(record.id);
      if (one !== undefined) one.isEnding = true;
      running.delete(record.id);
      await engine.destroy(dirOf(record.id));
    },
    async failover(record, failedNode) {
      const one = need(record);
      const primary = shown(one).nodes.find((node) => node.role === "primary");
      if (primary?.id === failedNode) await one.database.failover();
      return shown(one);
    },
    async backup(record, file) {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await need(record).database.snapshot(file);
    },
    serves(id) {
      const one = running.get(id);
      return one !== undefined && !one.isReviving && !one.isEnding;
    },
    hasUsers: ({ id, users }) => running.get(id)?.users.have(users) ?? true,
    applyUsers: (record) => need(record).users.put(record.users),
    proveRules: (rules) => proof.prove(rules),
    async close() {
      await proof.close();
      const all = [...running.values()];
      for (const one of all) one.isEnding = true;
      await Promise.allSettled(all.map((one) => one.database.stop()));
      running.clear();
    },
  };
}

/** True where a change reaches the processes: all but names, texts, ports and users. */
function needsRestart(one: Running, record: InstanceRecord, spec: DatabaseSpec): boolean {
  const compared = ({ ports: _ports, users: _users, seed: _seed, ...rest }: DatabaseSpec): string =>
    JSON.stringify(rest);
  return (
    one.instanceType !== String(record.params["nodeInstanceType"] ?? "") ||
    compared(one.spec) !== compared(spec)
  );
}

/** Nodes under the names of the topology: the engine's `node-1` is the component's second. */
function shown({ database, ids }: Running): RunningDatabase {
  const nodes = database.nodes().map((node) => ({
    id: ids[Number(node.id.slice("node-".length))] ?? node.id,
    port: node.port,
    role: node.role,
  }));
  return { host: database.host, nodes: nodes.sort((a, b) => (a.id < b.id ? -1 : 1)) };
}
