/** @module Looks for what keeps a controller from working: its tools, its configuration, and its database. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import pg from "pg";
import { GraphformError } from "../index.ts";
import { defaultConfig } from "./config/config.ts";
import { openConfig } from "./config/read-config.ts";
import { openDatabase } from "./database/connect.ts";
import { pendingMigrations } from "./database/migrations.ts";
import { assertAnswers } from "./database/prepare.ts";
import { startQueue } from "./queue/queue.ts";

/** One check: resolves with what is well, and rejects with an error for people. */
export type Check = readonly [name: string, look: () => Promise<string>];

/** Oldest PostgreSQL that the queue runs on; largest difference of two clocks, in ms. */
const [oldest, largestSkew] = [130_000, 5_000];

/** All checks, in the order in which a person wants to read them. */
export function controllerChecks(url: string, configFile: string | undefined): readonly Check[] {
  return [
    ["git", git],
    ["configuration", () => configuration(configFile)],
    ["database", () => assertAnswers(url).then(() => ask(url, server))],
    ["connection", () => ask(url, connection)],
    ["clock", () => ask(url, clock)],
    ["rights", () => ask(url, rights)],
    ["migrations", () => migrations(url)],
    ["queue", () => queue(url)],
    ["workers", () => ask(url, workers)],
  ];
}

async function git(): Promise<string> {
  const { stdout } = await promisify(execFile)("git", ["--version"]).catch(() => {
    throw trouble("git", "there is no git in PATH", "install git, unless all manifests are uploaded");
  });
  return stdout.trim();
}

async function configuration(file: string | undefined): Promise<string> {
  const { tenants } = (await openConfig(file ?? defaultConfig)).current();
  return `${file ?? "the default"} is valid: tenants ${Object.keys(tenants).join(", ") || "none"}`;
}

async function server(client: pg.Client): Promise<string> {
  const [row] = await rowsOf(
    client,
    `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version,
      pg_is_in_recovery() AS standby, current_setting('server_encoding') AS encoding`,
  );
  if (Number(row?.["number"]) < oldest)
    throw trouble("database", `PostgreSQL ${row?.["version"]} is too old`, "use 13 or newer");
  if (row?.["standby"] === true) throw trouble("database", "it is a standby", "name the primary");
  if (row?.["encoding"] !== "UTF8")
    throw trouble("database", `its encoding is ${row?.["encoding"]}`, "use one with UTF8");
  return `PostgreSQL ${row["version"]}`;
}

/** A pooler answers with a process id of its own. */
async function connection(client: pg.Client): Promise<string> {
  const [row] = await rowsOf(
    client,
    "SELECT pg_backend_pid() AS pid, current_setting('max_connections')::int AS max",
  );
  const own = "processID" in client ? client.processID : undefined;
  if (own !== row?.["pid"])
    return "behind a pooler such as PgBouncer; its pool needs 20 connections a process";
  return `direct; at most ${row?.["max"]} connections, of which each process takes up to 20 and each run at work 4`;
}

async function clock(client: pg.Client): Promise<string> {
  const before = Date.now();
  const [row] = await rowsOf(client, "SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now");
  const skew = Math.round(Number(row?.["now"]) - (before + Date.now()) / 2);
  if (Math.abs(skew) <= largestSkew) return `within ${Math.max(1, Math.abs(skew))} ms of this machine's`;
  throw trouble(
    "clock",
    `the database's clock differs by ${skew} ms from this machine's`,
    "synchronize both with NTP",
  );
}

async function rights(client: pg.Client): Promise<string> {
  const missing = await rowsOf(
    client,
    `SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE schemaname IN ('graphform', 'graphform_queue')
      AND NOT has_table_privilege(quote_ident(schemaname) || '.' || quote_ident(tablename), 'SELECT, INSERT') LIMIT 3`,
  );
  const [row] = await rowsOf(
    client,
    `SELECT current_user AS name, has_database_privilege(current_database(), 'CREATE') AS may, to_regnamespace('graphform') IS NULL AS fresh`,
  );
  if (missing.length > 0)
    throw trouble(
      "rights",
      `${row?.["name"]} may not use ${missing.map(({ name }) => name).join(", ")}`,
      "as their owner: GRANT USAGE ON SCHEMA graphform, graphform_queue, and GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES in them",
    );
  if (row?.["fresh"] === true && row["may"] !== true)
    throw trouble(
      "rights",
      `${row["name"]} may not create a schema`,
      "GRANT CREATE ON DATABASE, for `graphform serve migrate`",
    );
  return `${row?.["name"]} has those that it needs`;
}

async function migrations(url: string): Promise<string> {
  const database = openDatabase(url, () => undefined);
  const pending = await pendingMigrations(database).finally(() => database.destroy());
  if (pending.length === 0) return "none is pending";
  throw trouble("migrations", `pending: ${pending.join(", ")}`, "run `graphform serve migrate`");
}

async function queue(url: string): Promise<string> {
  try {
    const opened = await startQueue(url, () => undefined);
    await opened.stop(0);
    return "its schema is that of this version";
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw trouble("queue", `the queue does not start: ${why}`, "run `graphform serve migrate`");
  }
}

async function workers(client: pg.Client): Promise<string> {
  const rows = await rowsOf(
    client,
    "SELECT host, version FROM graphform.workers WHERE seen_at > clock_timestamp() - interval '1 minute'",
  ).catch(() => []);
  if (rows.length === 0) return "none was seen in the last minute: runs wait until one is started";
  const versions = [...new Set(rows.map(({ version }) => version))];
  return `${rows.length} seen in the last minute, of version ${versions.join(" and ")}`;
}

type Row = { readonly [column: string]: unknown };

async function rowsOf(client: pg.Client, text: string): Promise<readonly Row[]> {
  return (await client.query<Row>(text)).rows;
}

async function ask(url: string, look: (client: pg.Client) => Promise<string>): Promise<string> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    query_timeout: 10_000,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return await look(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function trouble(check: string, message: string, hint: string): GraphformError {
  return new GraphformError(`doctor-${check}`, message, { hint });
}
