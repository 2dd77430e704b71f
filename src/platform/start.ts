/** @module Starts the local platform and stops it again. */
import type { Server } from "node:http";
import { takeAutomatedSnapshots } from "./control/snapshots.ts";
import type { Core } from "./core.ts";
import type { EngineInfo } from "./databases/databases.ts";
import type { DialectName } from "./dialect/dialect.ts";
import { privateFolder } from "./http/credentials.ts";
import { createPlatformApp, createUsersApp, listen } from "./http/server.ts";
import { type FolderLock, lockFolder } from "./lock.ts";
import { operationNames } from "./model/records.ts";
import { abandonCore, closeCore, openCore } from "./open-core.ts";
import type { PlatformOptions } from "./options.ts";

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

/**
 * Resolves when the platform serves and every instance that ran before runs again. Throws PlatformRunningError if a platform
 * already runs on the folder, EngineError if no database server is found.
 */
export async function startPlatform(options: PlatformOptions): Promise<RunningPlatform> {
  const { dataDir } = options;
  await privateFolder(dataDir);
  const lock = await lockFolder(dataDir);
  let core: Core | undefined;
  // Databases and their timers do not keep a process alive, and no server listens yet.
  const alive = setInterval(() => undefined, 60_000);
  try {
    core = await openCore(options);
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
  const main = await listen(createPlatformApp(core, isShared), host, port, ownsProcess);
  const users = isShared
    ? main
    : await listen(createUsersApp(core), host, usersPort, ownsProcess).catch(async (error: unknown) => {
        await stopServing(main.server);
        throw error;
      });
  const snapshots =
    snapshotInterval > 0 ? setInterval(() => void takeAutomatedSnapshots(core), snapshotInterval) : undefined;
  const stop = async (): Promise<void> => {
    clearInterval(snapshots);
    await Promise.all([...new Set([main.server, users.server])].map(stopServing));
  };
  const lost = new AbortController();
  lock.lost.addEventListener("abort", () => {
    const letGo = stop().then(() => abandonCore(core));
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
