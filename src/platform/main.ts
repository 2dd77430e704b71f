/** @module Runs the local platform as a process of its own. */
import { randomBytes } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { writeAtomically } from "../files/atomic-write.ts";
import { fileTrouble, isFileError } from "../files/file-trouble.ts";
import { ArgumentError, readArguments } from "./arguments.ts";
import { ensureAuthority } from "./engine/index.ts";
import { PlatformRunningError } from "./lock.ts";
import { type RunningPlatform, startPlatform } from "./start.ts";

/**
 * Starts the platform, writes its announcement to `<dataDir>/platform.json` and standard output, and stops on SIGTERM, SIGINT
 * and SIGHUP; a signal that comes during the start takes effect after it, so that no database and no lock is left behind. Exits
 * with 1 and one line on standard error if it cannot start or loses its data folder.
 */
async function main(argv: readonly string[]): Promise<void> {
  const signalled = Promise.withResolvers<void>();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => signalled.resolve());
  const options = await readArguments(argv);
  const platform = await startPlatform({ ...options, ownsProcess: true }).catch((error: unknown) => {
    throw inFolder(options.dataDir, error);
  });
  const file = join(platform.dataDir, "platform.json");
  platform.lost.addEventListener("abort", () => exitWithError(platform.lost.reason));
  // An unexpected rejection or a log that cannot be written must not end the process: all databases would end with it.
  process.on("unhandledRejection", (error) => printError(`internal error: ${textOf(error)}`));
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  try {
    const line = await announcementOf(platform);
    await writeAtomically(file, `${line}\n`);
    process.stdout.write(`${line}\n`);
  } catch (error) {
    await platform.close();
    throw inFolder(options.dataDir, error);
  }
  void signalled.promise
    .then(() => platform.close())
    .then(() => rm(file, { force: true }))
    .then(() => process.exit(0), exitWithError);
}

async function announcementOf(platform: RunningPlatform): Promise<string> {
  const { url, usersUrl, dataDir, engine, profile, pid, delays } = platform;
  const { caFile } = await ensureAuthority(dataDir);
  await ensurePlatformId(dataDir);
  const spoken = profile === "default" ? {} : { profile };
  return JSON.stringify({ url, usersUrl, dataDir, engine, ...spoken, pid, delays, caFile: resolve(caFile) });
}

/** The error with its folder and the ways on, if it is one of the file system. */
function inFolder(dataDir: string, error: unknown): unknown {
  if (!isFileError(error) || error.errno === undefined || error.syscall === "listen") return error;
  const waysOn = "make it usable, or name another folder with --data-dir";
  return new Error(`${fileTrouble(error)} in ${resolve(dataDir)}: ${waysOn}`);
}

function exitWithError(error: unknown): never {
  printError(textOf(error));
  process.exit(1);
}

function printError(what: string): void {
  process.stderr.write(`graphform platform: ${what}\n`);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  const isExpected = error instanceof ArgumentError || error instanceof PlatformRunningError;
  exitWithError(isExpected ? error : new Error(`cannot start: ${textOf(error)}`));
});

/** Writes `<dataDir>/control/id` at the first start: beside the records, so that a folder without them is another platform. */
async function ensurePlatformId(dataDir: string): Promise<void> {
  const path = join(dataDir, "control", "id");
  const known = (await readFile(path, "utf8").catch(() => "")).trim();
  if (/^[0-9a-f]{32}$/.test(known)) return;
  await writeAtomically(path, `${randomBytes(16).toString("hex")}\n`);
}
