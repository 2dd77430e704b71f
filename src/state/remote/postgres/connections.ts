/** @module Keeps a few connections to one PostgreSQL, and gives every statement a fresh one after a failure. */
import type { Pool, PoolClient } from "pg";
import type { ConnectionSettings } from "./connection-settings.ts";
import { type Place, postgresTrouble } from "./postgres-trouble.ts";
import { tlsOptions } from "./tls-options.ts";

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
