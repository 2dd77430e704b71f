/** @module Opens a data folder with everything that was in progress, serves it, and stops again. */
import type { Server } from "node:http";
import { join } from "node:path";
import { makeFolder } from "../files/atomic-write.ts";
import { recoverAccounts } from "./control/accounts.ts";
import { createEvents } from "./control/events.ts";
import { createFaults } from "./control/faults.ts";
import { createLifecycle } from "./control/lifecycle.ts";
import { recoverSnapshots, takeAutomatedSnapshots } from "./control/snapshots.ts";
import { createTasks } from "./control/tasks.ts";
import type { Core } from "./core.ts";
import { createNoDatabases, type Databases, type EngineInfo } from "./databases/databases.ts";
import { createRealDatabases, type RealDatabasesParts } from "./databases/real-databases.ts";
import type { DialectName } from "./dialect/dialect.ts";
import { openDialect } from "./dialect/open-dialect.ts";
import { EngineError, ensureAuthority, findEngine } from "./engine/index.ts";
import {
  createTokens,
  linkLifetime,
  loadCredentials,
  loadSigningKey,
  pageLifetime,
} from "./http/credentials.ts";
import { createKnownSecrets, openRequestLog } from "./http/request-log.ts";
import { addNetwork } from "./http/routes/networks.ts";
import { createApp, listen } from "./http/server.ts";
import { openSessions } from "./http/sessions.ts";
import { type FolderLock, lockFolder } from "./lock.ts";
import { readInstanceTypes, readProfile } from "./model/instance-types.ts";
import { openStore, operationNames, type Store, secretsOf } from "./model/records.ts";
import { createStorageTrouble } from "./model/service-error.ts";
import { type PlatformOptions, settingsOf } from "./options.ts";

export interface RunningPlatform {
  /** URLs of the platform host and of the users host; equal if they share a port. */
  readonly url: string;
  readonly usersUrl: string;
  readonly dataDir: string;
  readonly engine: EngineInfo;
  readonly profile: DialectName;
  readonly pid: number;
  /** Ms that each operation takes in addition to the real work. */
  readonly delays: { readonly [operation: string]: number };
  /** Aborted when the data folder belongs to another platform or is gone: the platform has stopped serving and given up its databases. */
  readonly lost: AbortSignal;
  /** Stops the servers and every database; the data stays. */
  close(): Promise<void>;
}

/** Resolves when the platform serves and every instance that ran before runs again. Throws PlatformRunningError, or EngineError if no database server is found. */
export async function startPlatform(options: PlatformOptions): Promise<RunningPlatform> {
  const { dataDir } = options;
  await makeFolder(dataDir);
  const lock = await lockFolder(dataDir);
  let core: Core | undefined;
  // Databases and their timers do not keep a process alive, and no server listens yet.
  const alive = setInterval(() => undefined, 60_000);
  try {
    core = await openCore(options);
    for (const { id, ...seed } of core.settings.networkSeeds) await addNetwork(core, seed, id);
    await core.lifecycle.recover();
    recoverSnapshots(core);
    recoverAccounts(core);
    return await serveCore(core, options.usersPort, lock);
  } catch (error) {
    if (core !== undefined) await closeCore(core);
    await lock.release();
    throw error;
  } finally {
    clearInterval(alive);
  }
}

async function serveCore(
  core: Core,
  usersPort: number | undefined,
  lock: FolderLock,
): Promise<RunningPlatform> {
  const { host, port, dataDir, snapshotInterval, ownsProcess } = core.settings;
  const isShared = usersPort === undefined;
  const app = createApp(core, isShared ? ["platform", "users"] : ["platform"]);
  const main = await listen(app, host, port, ownsProcess);
  const users = isShared
    ? main
    : await listen(createApp(core, ["users"]), host, usersPort, ownsProcess).catch(async (error: unknown) => {
        await stopServing(main.server);
        throw error;
      });
  const takeSnapshots = (): void => core.tasks.run("", takeAutomatedSnapshots(core));
  const snapshots = snapshotInterval > 0 ? setInterval(takeSnapshots, snapshotInterval) : undefined;
  const stop = async (): Promise<void> => {
    clearInterval(snapshots);
    await Promise.all([...new Set([main.server, users.server])].map(stopServing));
  };
  const lost = new AbortController();
  lock.lost.addEventListener("abort", () => {
    const letGo = stop().then(() => closeCore(core, true));
    void letGo.catch(() => undefined).then(() => lost.abort(lock.lost.reason));
  });
  return {
    url: main.url,
    usersUrl: users.url,
    dataDir,
    engine: core.databases.engine,
    profile: core.dialect.name,
    pid: process.pid,
    delays: Object.fromEntries(operationNames.map((name) => [name, core.settings.delayOf(name)])),
    lost: lost.signal,
    async close() {
      const alive = setInterval(() => undefined, 60_000);
      await stop();
      await closeCore(core);
      await lock.release();
      clearInterval(alive);
    },
  };
}

async function stopServing(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

const mebibyte = 1024 ** 2;

/** Opens a data folder; starts no database. The caller holds the folder's lock. */
async function openCore(options: PlatformOptions): Promise<Core> {
  const { dataDir } = options;
  const trouble = createStorageTrouble();
  const [credentials, key, store] = await Promise.all([
    loadCredentials(dataDir),
    loadSigningKey(dataDir),
    openStore(dataDir, trouble),
  ]);
  const dialect = await openDialect(dataDir, store, options.profile);
  const settings = settingsOf(options, dialect);
  const { now, elapsed } = settings;
  const timestamp = createTimestamps(now, store);
  const sessions = await openSessions({
    ...settings,
    key,
    trouble,
    file: join(dataDir, "spent-tokens.jsonl"),
  });
  const events = createEvents(now);
  const secrets = createKnownSecrets();
  secrets.add(credentials.password);
  for (const record of store.instances.list())
    for (const secret of secretsOf(record, key)) secrets.add(secret);
  const snapshotFile = (region: string, id: string): string =>
    join(dataDir, "snapshots", region, `${id}.rdb`);
  const tasks = createTasks(events);
  const instanceTypes = options.instanceTypes ?? readInstanceTypes(await readProfile("default"));
  const databases = await openDatabases(options.engine, {
    folder: join(dataDir, "databases"),
    instanceTypes,
    key,
    tls: () => ensureAuthority(dataDir),
    listener: {
      down: (id, reason) => core.lifecycle.down(id, reason),
      notice: (id, what) => events.add(id, what, true),
    },
    signal: tasks.closing,
  });
  const parts = { settings, store, events, tasks, databases, snapshotFile, timestamp };
  const core: Core = {
    ...parts,
    lifecycle: createLifecycle(parts),
    dialect,
    credentials,
    sessions,
    page: { keys: createTokens(linkLifetime, elapsed), sessions: createTokens(pageLifetime, elapsed) },
    trouble,
    faults: createFaults(settings.faults, elapsed),
    log: openRequestLog(join(dataDir, "requests.jsonl"), trouble),
    secrets,
    key,
    sharesPort: options.usersPort === undefined,
    instanceTypes,
    bodyBudgets: { signedIn: { left: 64 * mebibyte }, anonymous: { left: 4 * mebibyte } },
  };
  return core;
}

/**
 * Stops operations, databases and log files; the data stays. A lost data folder is not touched, since another platform may own it
 * by now, and the databases of that platform keep running.
 */
async function closeCore({ tasks, databases, store, log }: Core, isLost = false): Promise<void> {
  await tasks.close();
  if (isLost) await databases.abandon();
  else await databases.close();
  if (!isLost) await Promise.all(Object.values(store).map((records) => records.settled()));
  log.close();
}

/** Databases of the requested or found engine; `none` runs without databases. Throws EngineError if no engine is found. */
async function openDatabases(
  asked: string | undefined,
  parts: Omit<RealDatabasesParts, "engine">,
): Promise<Databases> {
  const program = asked ?? process.env["GRAPHFORM_ENGINE"];
  if (program === "none") return createNoDatabases("asked for; instances have no data");
  const found = await findEngine(process.env, program);
  if (found.engine === undefined)
    throw new EngineError("engine-missing", [found.reason, found.hint ?? []].flat().join("; "));
  await makeFolder(parts.folder);
  return createRealDatabases({ ...parts, engine: found.engine });
}

/** ISO 8601 times after those of the records that only grow, also if the clock is set back: records are sorted by them. */
function createTimestamps(now: () => number, { instances, snapshots }: Store): () => string {
  const times = [
    ...instances.list().map(({ lastModified }) => lastModified),
    ...snapshots.list().map(({ createdAt }) => createdAt),
  ];
  let last = times.reduce((latest, time) => Math.max(latest, Date.parse(time) || 0), 0);
  return () => {
    last = Math.max(now(), last + 1);
    return new Date(last).toISOString();
  };
}
