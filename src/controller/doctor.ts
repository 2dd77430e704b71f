/** @module Looks for what keeps a controller from working: its tools, its configuration, and its database. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import pg from "pg";
import { GraphformError } from "../index.ts";
import { openConfig } from "./config/read-config.ts";
import { assertAnswers, openDatabase } from "./database/connect.ts";
import { pendingMigrations } from "./database/migrations.ts";
import { startQueue } from "./queue/queue.ts";

/** One check: resolves with what is well, and rejects with an error for people. */
export type Check = readonly [name: string, look: () => Promise<string>];

/** Oldest PostgreSQL that the queue runs on; largest difference of two clocks, in ms. */
const [oldest, largestSkew] = [130_000, 5_000];

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
    ["workers", () => ask(url, workers).catch(() => nobody)],
  ];
}

async function git(): Promise<string> {
  const { stdout } = await promisify(execFile)("git", ["--version"]).catch(() => {
    throw trouble("git", "there is no git in PATH", "install git, unless all manifests are uploaded");
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

/** A question to the database, and the judgement of its first row. */
interface Question {
  readonly sql: string;
  /** `pid`: the process at the other end of the connection; `now`: this machine's clock in ms, in the middle of the question. */
  readonly read: (row: Row, pid: unknown, now: number) => string;
}
type Row = { readonly [column: string]: unknown };

const server: Question = {
  sql: `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version,
    pg_is_in_recovery() AS standby, current_setting('server_encoding') AS encoding`,
  read({ number, version, standby, encoding }) {
    if (Number(number) < oldest)
      throw trouble("database", `PostgreSQL ${version} is too old`, "use 13 or newer");
    if (standby === true) throw trouble("database", "it is a standby", "name the primary");
    if (encoding === "UTF8") return `PostgreSQL ${version}`;
    throw trouble("database", `its encoding is ${encoding}`, "use one with UTF8");
  },
};

/** A pooler answers with a process id of its own. */
const connection: Question = {
  sql: "SELECT pg_backend_pid() AS pid, current_setting('max_connections')::int AS max",
  read: ({ pid, max }, own) =>
    pid === own
      ? `direct; at most ${max} connections, of which each process takes up to 20 and each run at work 4`
      : "behind a pooler such as PgBouncer; its pool needs 20 connections a process",
};

const clock: Question = {
  sql: "SELECT extract(epoch FROM clock_timestamp()) * 1000 AS time",
  read({ time }, _pid, now) {
    const skew = Math.round(Number(time) - now);
    if (Math.abs(skew) <= largestSkew) return `within ${Math.max(1, Math.abs(skew))} ms of this machine's`;
    const message = `the database's clock differs by ${skew} ms from this machine's`;
    throw trouble("clock", message, "synchronize both with NTP");
  },
};

const rights: Question = {
  sql: `SELECT current_user AS name, has_database_privilege(current_database(), 'CREATE') AS may, to_regnamespace('graphform') IS NULL AS fresh,
    (SELECT string_agg(name, ', ') FROM (
      SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE schemaname IN ('graphform', 'graphform_queue')
        AND NOT has_table_privilege(quote_ident(schemaname) || '.' || quote_ident(tablename), 'SELECT, INSERT') LIMIT 3
    ) AS missing) AS missing`,
  read({ name, may, fresh, missing }) {
    const grant =
      "as their owner: GRANT USAGE ON SCHEMA graphform, graphform_queue, and GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES in them";
    if (missing !== null) throw trouble("rights", `${name} may not use ${missing}`, grant);
    if (fresh !== true || may === true) return `${name} has those that it needs`;
    const create = "GRANT CREATE ON DATABASE, for `graphform serve migrate`";
    throw trouble("rights", `${name} may not create a schema`, create);
  },
};

const workers: Question = {
  sql: `SELECT count(*)::int AS count, string_agg(DISTINCT version, ' and ') AS versions FROM graphform.workers
    WHERE seen_at > clock_timestamp() - interval '1 minute'`,
  read: ({ count, versions }) =>
    count === 0 ? nobody : `${count} seen in the last minute, of version ${versions}`,
};

const nobody = "none was seen in the last minute: runs wait until one is started";

async function ask(url: string, { sql, read }: Question): Promise<string> {
  const timeouts = { connectionTimeoutMillis: 10_000, query_timeout: 10_000 };
  const client = new pg.Client({ connectionString: url, ...timeouts });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const before = Date.now();
    const { rows } = await client.query<Row>(sql);
    return read(rows[0] ?? {}, "processID" in client && client.processID, (before + Date.now()) / 2);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function trouble(check: string, message: string, hint: string): GraphformError {
  return new GraphformError(`doctor-${check}`, message, { hint });
}
