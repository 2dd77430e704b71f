/** @module Checks the needs of a controller: its tools, its configuration, and its database. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import pg from "pg";
import { GraphformError } from "../index.ts";
import { openConfig } from "./config/read-config.ts";
import { assertAnswers, openDatabase } from "./database/connect.ts";
import { pendingMigrations } from "./database/migrations.ts";
import { startQueue } from "./queue/queue.ts";

/** One check: resolves with a good finding, and rejects with an error for people. */
export type Check = readonly [name: string, look: () => Promise<string>];

export function controllerChecks(url: string, configFile: string | undefined): readonly Check[] {
  const asked = Object.entries(questions).map(([name, sql]): Check => [name, () => ask(url, name, sql)]);
  return [
    ["git", git],
    ["configuration", () => configuration(configFile)],
    ["database", () => assertAnswers(url).then(() => ask(url, "database", server))],
    ...asked,
    ["migrations", () => migrations(url)],
    ["queue", () => queue(url)],
    ["workers", () => ask(url, "workers", workers).catch(() => noWorker)],
  ];
}

async function git(): Promise<string> {
  const { stdout } = await promisify(execFile)("git", ["--version"]).catch(() => {
    throw checkError("git", "there is no git in PATH", "install git, unless all manifests are uploaded");
  });
  return stdout.trim();
}

async function configuration(file: string | undefined): Promise<string> {
  const { tenants } = (await openConfig(file)).current();
  return `${file ?? "the default"} is valid: tenants ${Object.keys(tenants).join(", ") || "none"}`;
}

async function migrations(url: string): Promise<string> {
  const database = openDatabase(url, () => undefined);
  const pending = await pendingMigrations(database).finally(() => database.destroy());
  if (pending.length === 0) return "none is pending";
  throw checkError("migrations", `pending: ${pending.join(", ")}`, "run `graphform serve migrate`");
}

async function queue(url: string): Promise<string> {
  try {
    const opened = await startQueue(url, () => undefined);
    await opened.stop(0);
    return "its schema is that of this version";
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw checkError("queue", `the queue does not start: ${why}`, "run `graphform serve migrate`");
  }
}

/** Each query selects a good finding as `said`, or a fault with its remedy. The queue runs on PostgreSQL 13 and newer. */
const server = `
  SELECT 'PostgreSQL ' || version AS said,
    CASE WHEN number < 130000 THEN 'PostgreSQL ' || version || ' is too old' WHEN standby THEN 'it is a standby'
      WHEN encoding <> 'UTF8' THEN 'its encoding is ' || encoding END AS wrong,
    CASE WHEN number < 130000 THEN 'use 13 or newer' WHEN standby THEN 'name the primary' ELSE 'use one with UTF8' END AS hint
  FROM (SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version,
    pg_is_in_recovery() AS standby, current_setting('server_encoding') AS encoding) AS asked`;

/** `:pid` is the process at the other end of the connection, unless a pooler answers with its own; `:now` is this machine's clock in ms. */
const questions = {
  connection: `
    SELECT CASE WHEN pg_backend_pid() <> :pid THEN 'behind a pooler such as PgBouncer; its pool needs 20 connections a process'
      ELSE format('direct; at most %s connections, of which each process takes up to 20 and each run at work 4',
        current_setting('max_connections')) END AS said`,
  clock: `
    SELECT format('within %s ms of this machine''s', greatest(1, abs(skew))) AS said, 'synchronize both with NTP' AS hint,
      CASE WHEN abs(skew) > 5000 THEN format('the database''s clock differs by %s ms from this machine''s', skew) END AS wrong
    FROM (SELECT round(extract(epoch FROM clock_timestamp()) * 1000 - :now) AS skew) AS asked`,
  rights: `
    SELECT current_user || ' has those that it needs' AS said,
      CASE WHEN missing IS NOT NULL THEN format('%s may not use %s', current_user, missing)
        WHEN to_regnamespace('graphform') IS NULL AND NOT has_database_privilege(current_database(), 'CREATE')
        THEN current_user || ' may not create a schema' END AS wrong,
      CASE WHEN missing IS NULL THEN 'GRANT CREATE ON DATABASE, for \`graphform serve migrate\`' ELSE
        'as their owner: GRANT USAGE ON SCHEMA graphform, graphform_queue, and GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES in them'
      END AS hint
    FROM (SELECT string_agg(name, ', ') AS missing FROM (
      SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE schemaname IN ('graphform', 'graphform_queue')
        AND NOT has_table_privilege(quote_ident(schemaname) || '.' || quote_ident(tablename), 'SELECT, INSERT') LIMIT 3
    ) AS tables) AS asked`,
};

const noWorker = "none was seen in the last minute: runs wait until one is started";

const workers = `
  SELECT CASE count(*) WHEN 0 THEN '${noWorker}'
    ELSE format('%s seen in the last minute, of version %s', count(*), string_agg(DISTINCT version, ' and ')) END AS said
  FROM graphform.workers WHERE seen_at > clock_timestamp() - interval '1 minute'`;

async function ask(url: string, check: string, question: string): Promise<string> {
  const timeouts = { connectionTimeoutMillis: 10_000, query_timeout: 10_000 };
  const client = new pg.Client({ connectionString: url, ...timeouts });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const pid = "processID" in client ? String(client.processID) : "0";
    const sql = question.replace(":pid", pid).replace(":now", String(Date.now()));
    const { rows } = await client.query<{ said: string; wrong?: string | null; hint?: string }>(sql);
    const { said = "", wrong, hint = "" } = rows[0] ?? {};
    if (typeof wrong === "string") throw checkError(check, wrong, hint);
    return said;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function checkError(check: string, message: string, hint: string): GraphformError {
  return new GraphformError(`doctor-${check}`, message, { hint });
}
