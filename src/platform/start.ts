import type { Server } from "node:http";
import { takeAutomatedSnapshots } from "./control/snapshots.ts";
import type { Core } from "./core.ts";
import type { EngineInfo } from "./databases/databases.ts";
import type { DialectName } from "./dialect/dialect.ts";
import { privateFolder } from "./http/credentials.ts";
import { createPlatformApp, createUsersApp, listen } from "./http/server.ts";
import { type FolderLock, lockFolder } from "./lock.ts";
import { abandonCore, closeCore, openCore } from "./open-core.ts";
import type { PlatformOptions } from "./options.ts";

/** A local platform at work in this process. */
export interface RunningPlatform {
  /** The platform host and the users host; equal when they share a port. */
  readonly url: string;
  readonly usersUrl: string;
  readonly dataDir: string;
  readonly engine: EngineInfo;
  /** The service profile whose wire it speaks. */
  readonly profile: DialectName;
  readonly pid: number;
  /** Aborted when the data folder is no longer this platform's: it serves no more then, and has let go of its databases. */
  readonly lost: AbortSignal;
  /** Stops serving, stops every database, keeps the data. */
  close(): Promise<void>;
}

/**
 * Starts the hosting service on this machine. Resolves when it serves and every instance that ran, runs again.
 * Throws PlatformRunningError when one already runs on the same folder, EngineError when no database server is found.
 */
export async function startPlatform(options: PlatformOptions): Promise<RunningPlatform> {
  const { dataDir } = options;
  await privateFolder(dataDir);
  const lock = await lockFolder(dataDir);
  let core: Core | undefined;
  // Databases and their timers do not keep a process alive, and there is no server yet that does.
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
