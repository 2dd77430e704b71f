/** @module Connects to the controller's database. */
import { Kysely, PostgresDialect, type Transaction } from "kysely";
import pg from "pg";
import { schema } from "./migrations.ts";
import type { Schema } from "./schema.ts";

export type Database = Kysely<Schema>;
/** A transaction; every function that takes one must be called in one. */
export type Tx = Transaction<Schema>;

/** Largest number of connections of one process, the queue's own beside them. */
const connections = 10;

/** Opens the pool of a process; nothing connects before the first query. `onError` gets the trouble of idle connections. */
export function openDatabase(url: string, onError: (error: Error) => void): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    application_name: "graphform controller",
    connectionTimeoutMillis: 10_000,
    query_timeout: 60_000,
    keepAlive: true,
    // Numbers of eight bytes count events and fences here: none reaches 2^53.
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as "text"),
    },
  });
  pool.on("error", onError);
  // A connection that ends in a transaction fails its statement, and emits an error that would end the process if it had no listener.
  pool.on("connect", (client) => client.on("error", () => undefined));
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) }).withSchema(schema);
}
