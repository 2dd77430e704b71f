import { unlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { writeAtomically } from "../files/atomic-write.ts";
import { ArgumentError, readArguments } from "./arguments.ts";
import { ensureAuthority } from "./engine/index.ts";
import { PlatformRunningError } from "./lock.ts";
import { ensurePlatformId } from "./platform-id.ts";
import { startPlatform } from "./start.ts";

/**
 * The local platform as a process: starts, writes `<dataDir>/platform.json`, prints the same as one JSON line, and stops
 * gracefully on SIGTERM, SIGINT and SIGHUP. Exit 1 with one line on standard error when it cannot start.
 */
async function main(argv: readonly string[]): Promise<void> {
  const platform = await startPlatform({ ...(await readArguments(argv)), ownsProcess: true });
  const { url, usersUrl, dataDir, engine, pid } = platform;
  const { caFile } = await ensureAuthority(dataDir);
  await ensurePlatformId(dataDir);
  const announcement = JSON.stringify({ url, usersUrl, dataDir, engine, pid, caFile: resolve(caFile) });
  const file = join(dataDir, "platform.json");
  await writeAtomically(file, `${announcement}\n`);
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    void platform
      .close()
      .then(() => unlink(file))
      .then(() => process.exit(0), complain);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGHUP", stop);
  process.stdout.write(`${announcement}\n`);
}

function complain(error: unknown): never {
  const isExpected = error instanceof ArgumentError || error instanceof PlatformRunningError;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`graphform platform: ${isExpected ? "" : "cannot start: "}${message}\n`);
  process.exit(1);
}

await main(process.argv.slice(2)).catch(complain);
