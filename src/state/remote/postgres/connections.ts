/** @module Keeps a few connections to one PostgreSQL, and gives every statement a fresh one after a failure. */

import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "node:tls";
import type { Pool, PoolClient } from "pg";
import { fileTrouble } from "../../../files/file-trouble.ts";
import { GraphformError } from "../../../model/errors.ts";
import { defined } from "../../../model/json.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import { type Place, postgresTrouble } from "./postgres-trouble.ts";

/** A row as it came; its columns are checked where they are read. */
export interface Row {
  readonly [column: string]: unknown;
}

/** Runs one statement and resolves with its rows. */
export type Run = (sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/** Connections of one driver. All reject with the errors of a driver. */
export interface Connections {
  /** Runs a statement that is a transaction of its own: one round trip, and nothing stays in the session. */
  readonly run: Run;
  /** Runs statements in one transaction that is always rolled back. */
  readonly attempt: <T>(work: (run: Run) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

/**
 * Makes the connections of a driver; the first statement loads `pg` and connects. A connection that failed in any way is not
 * used again. Only what PgBouncer carries in transaction mode is used: unnamed statements, and nothing that outlives a transaction.
 */
export function openConnections(settings: ConnectionSettings, place: Place): Connections {
  let opened: Promise<Pool> | undefined;
  const pool = (): Promise<Pool> => {
    opened ??= openPool(settings).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw postgresTrouble(error, place);
    }
  };
  return {
    run: (sql, values) => guarded(async () => await query(await pool(), sql, values)),
    attempt: (work) =>
      guarded(async () => {
        const client = await (await pool()).connect();
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
      const ended = opened;
      opened = undefined;
      await (await ended?.catch(() => undefined))?.end();
    },
  };
}

async function query(
  on: Pool | PoolClient,
  sql: string,
  values: readonly unknown[] | undefined,
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
  // A connection that dies while nobody uses it is forgotten; the next statement connects.
  pool.on("error", () => undefined);
  return pool;
}

/**
 * Options of TLS; false for none. As with libpq, `require` checks nothing unless an authority is named, `verify-ca` checks the
 * chain, and `verify-full` the name too. Rejects with `state-unsuitable` where a file cannot be read.
 */
export async function tlsOptions(settings: ConnectionSettings): Promise<ConnectionOptions | false> {
  const { sslmode, sslrootcert, sslcert, sslkey, host } = settings;
  // A socket is a file of this machine; libpq does not encrypt it either.
  if (sslmode === "disable" || host.startsWith("/")) return false;
  const ca = sslrootcert === undefined || sslrootcert === "system" ? undefined : await pem(sslrootcert);
  const cert = sslcert === undefined ? undefined : await pem(sslcert);
  const key = sslkey === undefined ? undefined : await pem(sslkey);
  return {
    rejectUnauthorized: sslmode !== "require" || ca !== undefined,
    ...(sslmode === "verify-full" ? {} : { checkServerIdentity: () => undefined }),
    ...defined({ ca, cert, key }),
  };
}

async function pem(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new GraphformError("state-unsuitable", `cannot read ${file}: ${fileTrouble(error)}`, {
      hint: "it is named as the authority, certificate or key of the state's connection to PostgreSQL",
    });
  }
}
