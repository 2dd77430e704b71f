import { cpSync, existsSync, globSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { claimPort } from "../../src/platform/engine/bring-up-node.ts";
import { addToCache, engineCache } from "../../src/platform/engine/setup/engine-cache.ts";
import { fetchPackages } from "../../src/platform/engine/setup/fetch.ts";
import type { Postgres } from "./postgres.ts";
import { giveAway, openFolder, startService } from "./unprivileged.ts";

/** A PgBouncer in transaction mode before a test's PostgreSQL. */
export interface Pgbouncer {
  /** Variables of the user who owns everything, by way of it. */
  readonly credentials: { readonly [variable: string]: string };
  close(): Promise<void>;
}

/** Starts one for the owner and `others`, who have the same password. Two connections for each user, so that clients get one another's; nothing of a start-up message is ignored. */
export async function openPgbouncer(postgres: Postgres, others: readonly string[] = []): Promise<Pgbouncer> {
  const folder = openFolder("pgbouncer");
  await copyProgram(folder);
  const claim = await claimPort();
  const { port } = claim;
  const { PGUSER = "", PGPASSWORD = "", PGDATABASE = "" } = postgres.credentials;
  const [file, users] = [join(folder, "pgbouncer.ini"), join(folder, "users")];
  const lines = [
    "[databases]",
    `${PGDATABASE} = host=127.0.0.1 port=${postgres.port}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = scram-sha-256",
    `auth_file = ${users}`,
    "pool_mode = transaction",
    "default_pool_size = 2",
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  writeFileSync(users, [PGUSER, ...others].map((user) => `"${user}" "${PGPASSWORD}"\n`).join(""));
  giveAway(folder);
  const libraries = globSync(["usr/lib/*-linux-gnu", "lib/*-linux-gnu"], { cwd: folder });
  const env = { LD_LIBRARY_PATH: libraries.map((path) => join(folder, path)).join(":") };
  const service = startService(join(folder, "usr", "sbin", "pgbouncer"), [file], { env, cwd: folder });
  const credentials = { ...postgres.credentials, PGPORT: `${port}` };
  for (const end = Date.now() + 30_000; ; await pause(20)) {
    const trouble = await answers(port, postgres).catch((error: unknown) => error);
    if (trouble === true) break;
    if (Date.now() < end) continue;
    await service.end("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`PgBouncer does not start: ${trouble}\n${service.said()}`);
  }
  return {
    credentials,
    async close() {
      await service.end("SIGKILL");
      claim.release();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answers(port: number, { credentials }: Postgres): Promise<true> {
  const { PGUSER: user, PGPASSWORD: password, PGDATABASE: database } = credentials;
  const client = new pg.Client({
    host: "127.0.0.1",
    port,
    user,
    password,
    database,
    connectionTimeoutMillis: 5000,
  });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query("SELECT 1");
    return true;
  } finally {
    await client.end();
  }
}

/** Copies the installed PgBouncer, or Debian's with its libraries: fetched once, without rights. Rejects where it cannot be had. */
async function copyProgram(folder: string): Promise<void> {
  const file = join("usr", "sbin", "pgbouncer");
  if (existsSync(join("/", file))) return cpSync(join("/", file), join(folder, file));
  const cache = join(dirname(engineCache(process.env)), "pgbouncer");
  const [cached] = globSync(join("pgbouncer-*", file), { cwd: cache });
  const report = (line: string): void => console.log(`tests of PgBouncer: ${line}`);
  const root =
    cached === undefined
      ? await addToCache(cache, async (filling) => {
          await fetchPackages(["pgbouncer"], { ...filling, env: process.env, report });
          return `pgbouncer-${process.arch}`;
        })
      : join(cache, dirname(cached), "..", "..");
  cpSync(root, folder, { recursive: true, verbatimSymlinks: true });
}
