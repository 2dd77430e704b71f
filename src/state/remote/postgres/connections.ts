/** @module Keeps a few connections to one PostgreSQL, and words its refusals without repeating its text, which may quote rows. */
import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "node:tls";
import type { Pool, PoolClient } from "pg";
import { fileTrouble } from "../../../files/file-trouble.ts";
import { asError, GraphformError, isGraphformError } from "../../../model/errors.ts";
import { defined, textIn } from "../../../model/json.ts";
import type { ConnectionSettings } from "./connection-settings.ts";

/** A row as it came; its columns are checked as they are read. */
export interface Row {
  readonly [column: string]: unknown;
}

export type Run = (sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/** All reject with the errors of a driver. */
export interface Connections {
  /** Runs a statement that is a transaction of its own: one round trip, and nothing stays in the session. */
  readonly run: Run;
  /** Runs statements in one transaction that is always rolled back. */
  readonly attempt: <T>(work: (run: Run) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

/** Pools by their settings: a state that is opened soon after another one of the same database need not connect. */
const pools = new Map<string, Promise<Pool>>();

/**
 * The first statement loads `pg` and connects. A connection that failed is not used again. Only what PgBouncer carries in transaction
 * mode is used: unnamed statements, and nothing that outlives a transaction.
 */
export function openConnections(settings: ConnectionSettings, place: Place): Connections {
  const key = JSON.stringify({ ...settings, where: "" });
  /** Works with the pool; one that could not be opened is tried again by the next call. */
  const guarded = async <T>(work: (pool: Pool) => Promise<T>): Promise<T> => {
    try {
      const opened = pools.get(key) ?? openPool(settings);
      pools.set(key, opened);
      opened.catch(() => pools.delete(key));
      return await work(await opened);
    } catch (error) {
      throw postgresTrouble(error, place);
    }
  };
  return {
    run: (sql, values) => guarded((pool) => query(pool, sql, values)),
    attempt: (work) =>
      guarded(async (pool) => {
        const client = await pool.connect();
        try {
          await client.query("BEGIN");
          const result = await work((sql, values) => query(client, sql, values));
          await client.query("ROLLBACK");
          client.release();
          return result;
        } catch (error) {
          // The server rolls back what a closed connection has begun.
          client.release(true);
          throw error;
        }
      }),
    async close() {
      const ended = pools.get(key);
      pools.delete(key);
      await (await ended?.catch(() => undefined))?.end();
    },
  };
}

async function query(
  on: Pool | PoolClient,
  sql: string,
  values?: readonly unknown[],
): Promise<readonly Row[]> {
  // Without values pg sends the simple protocol, which takes several statements at once.
  const { rows } = values === undefined ? await on.query<Row>(sql) : await on.query<Row>(sql, [...values]);
  return rows ?? [];
}

async function openPool(settings: ConnectionSettings): Promise<Pool> {
  const [ssl, { default: pg }] = await Promise.all([tlsOptions(settings), import("pg")]);
  const { host, port, database, user, password, connectTimeout, requestTimeout } = settings;
  const pool = new pg.Pool({
    host,
    port,
    database,
    user,
    // A function keeps pg from looking into the environment and into ~/.pgpass by itself.
    password: () => password ?? "",
    ssl,
    application_name: "graphform",
    connectionTimeoutMillis: connectTimeout,
    query_timeout: requestTimeout,
    // A heartbeat does not wait for the write of a large document.
    max: 4,
    idleTimeoutMillis: 60_000,
    allowExitOnIdle: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  // An idle connection that dies is forgotten; the next statement connects.
  pool.on("error", () => undefined);
  // One that dies in a transaction fails its statement, and emits an error that would end the process if it had no listener.
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

/**
 * As with libpq, `require` checks nothing unless an authority is named, `verify-ca` checks the chain, and `verify-full` the name too.
 * False: no TLS. Rejects with `state-unsuitable` if a file cannot be read.
 */
export async function tlsOptions(settings: ConnectionSettings): Promise<ConnectionOptions | false> {
  const { sslmode, sslrootcert, sslcert, sslkey, host } = settings;
  // A socket is a file of this machine; libpq does not encrypt it either.
  if (sslmode === "disable" || host.startsWith("/")) return false;
  const files = [sslrootcert === "system" ? undefined : sslrootcert, sslcert, sslkey];
  const [ca, cert, key] = await Promise.all(files.map((file) => file && pem(file)));
  return {
    rejectUnauthorized: sslmode !== "require" || ca !== undefined,
    ...(sslmode === "verify-full" ? {} : { checkServerIdentity: () => undefined }),
    ...defined({ ca, cert, key }),
  };
}

async function pem(file: string): Promise<string> {
  return readFile(file, "utf8").catch((error: unknown) => {
    throw new GraphformError("state-unsuitable", `cannot read ${file}: ${fileTrouble(error)}`, {
      hint: "it is named as the authority, certificate or key of the state's connection to PostgreSQL",
    });
  });
}

export interface Place {
  readonly where: string;
  readonly schema: string;
}

/** `what` follows the name of the place. */
type Refusal = readonly [
  code: "state-denied" | "state-unreachable" | "state-unsuitable",
  what: string,
  hint: string,
];

const init = "run graphform state init with a user that may create a schema";
const credentials = "check PGUSER and PGPASSWORD, or GRAPHFORM_STATE_POSTGRES_URL";
const again = "nothing is lost: run the command again when it can be reached";

/** Refusals by SQLSTATE, or by its class of two characters; the first row that fits counts. */
const refusals: readonly (readonly [states: string, ...Refusal])[] = [
  ["28", "state-denied", "refused the user or its password", credentials],
  [
    "42501",
    "state-denied",
    "does not let this user use the tables of graphform",
    "as their owner: GRANT USAGE ON SCHEMA, and GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA",
  ],
  ["42P01 3F000", "state-unsuitable", "has no tables of graphform", init],
  [
    "42703 42804 42809 42883 42P10",
    "state-unsuitable",
    "has tables that are not those of this version of graphform",
    "name another schema with state.schema, or run graphform state init",
  ],
  ["3D000", "state-unsuitable", "has no database of this name", "create it, or correct state.database"],
  [
    "25006",
    "state-unsuitable",
    "takes no writes: it is a standby, or the user may only read",
    "name the primary",
  ],
  [
    "23 27 44",
    "state-unsuitable",
    "has rules on the tables of graphform that are not graphform's",
    "remove the constraint or trigger, or name another schema with state.schema",
  ],
  ["0A 22 54", "state-unsuitable", "cannot store the state", "use PostgreSQL 12 or newer with UTF8"],
];

/** Codes that Node gives to certificates which are not trusted, or for another name. */
const untrusted = /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH)/;

/** The error of a driver for anything that a connection threw. It has no cause: an error of `pg` quotes rows. */
export function postgresTrouble(error: unknown, place: Place): GraphformError {
  if (isGraphformError(error)) return error;
  const [code, what, hint] = refusalOf(error);
  return new GraphformError(code, `the state ${place.where}: PostgreSQL ${what}`, { hint });
}

function refusalOf(error: unknown): Refusal {
  const thrown: Error & { readonly code?: unknown; readonly severity?: unknown } = asError(error);
  const { message, severity } = thrown;
  const code = textIn(thrown.code);
  // Errors that the server sent have a severity beside their code.
  if (code !== undefined && severity !== undefined) return bySqlState(code, message);
  if (code !== undefined && untrusted.test(code))
    return [
      "state-unsuitable",
      `shows a certificate that is not trusted (${code})`,
      "name its authority with state.sslrootcert; sslmode verify-full also needs the name that it was made for",
    ];
  if (/does not support SSL|establishing an SSL connection/.test(message))
    return [
      "state-unsuitable",
      "does not speak TLS",
      "set state.sslmode: disable if the network between is your own",
    ];
  if (/^SASL: .*password/.test(message))
    return ["state-denied", "asks for a password, and none is given", credentials];
  if (message.startsWith("SASL: ")) return ["state-denied", "refused the sign-in", credentials];
  if (/timeout|timed out/i.test(message)) return ["state-unreachable", "did not answer in time", again];
  const why = code === undefined ? "" : ` (${code})`;
  return ["state-unreachable", `cannot be reached, or cut the connection${why}`, again];
}

function bySqlState(state: string, message: string): Refusal {
  const wanted = state === "08P01" ? ofPooler(message) : state;
  const row = refusals.find(([states]) => states.split(" ").some((start) => wanted.startsWith(start)));
  if (row === undefined) return ["state-unreachable", `could not do it now (SQLSTATE ${state})`, again];
  const [, code, what, hint] = row;
  return [code, `${what} (SQLSTATE ${state})`, hint];
}

/** PgBouncer has one code for all that it, or the server behind it, does not like. */
function ofPooler(message: string): string {
  if (/no such database|database .* does not exist/i.test(message)) return "3D000";
  return /no such user|auth|password/i.test(message) ? "28000" : "08P01";
}
