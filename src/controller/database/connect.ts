/** @module Connects to the controller's database, and reports when it is away. */
import { Socket } from "node:net";
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  PostgresDialect,
  PostgresDriver,
  type RawBuilder,
  sql,
  type Transaction,
} from "kysely";
import pg from "pg";
import { GraphformError } from "../../index.ts";
import { type Schema, schema } from "./schema.ts";

export type Database = Kysely<Schema>;
/** A transaction; every function that takes one must be called in one. */
export type Tx = Transaction<Schema>;

/** The moment as the database knows it: the clock of each process may be another. */
export const databaseClock: RawBuilder<Date> = sql<Date>`clock_timestamp()`;

export async function databaseTime(at: Database | Tx): Promise<Date> {
  const { now } = await at.selectNoFrom(databaseClock.as("now")).executeTakeFirstOrThrow();
  return now;
}

interface PoolSettings {
  readonly connectionString: string;
  /** Largest number of connections of one pool. */
  readonly max: number;
  readonly connectionTimeoutMillis: number;
  readonly stream: () => Socket;
}

/**
 * The settings of a pool. A connection is ended once it has been silent for so many ms: a broken network closes none, and a pool that
 * only gives up the statement hands its connection out again.
 */
export function poolSettings(url: string, longestSilence = 60_000): PoolSettings {
  const stream = (): Socket => {
    const socket = new Socket();
    const silent = Object.assign(new Error("the database does not answer"), { code: "ETIMEDOUT" });
    return socket.setTimeout(longestSilence, () => socket.destroy(silent));
  };
  return { connectionString: url, max: 10, connectionTimeoutMillis: 10_000, stream };
}

/**
 * Begins a transaction with limits: a process that vanishes in one, or stands still, keeps its locks from others for 30 s at most. They are
 * part of the transaction, since behind PgBouncer nothing else stays with it.
 */
async function beginTransaction(connection: DatabaseConnection): Promise<void> {
  const limits = "SET LOCAL idle_in_transaction_session_timeout = '30s'; SET LOCAL lock_timeout = '10s'";
  await connection.executeQuery(CompiledQuery.raw(`BEGIN; ${limits}`));
}

/** Takes the limits of waiting from a transaction that may wait long for another one like it. */
export async function waitWithoutLimit(tx: Tx): Promise<void> {
  await sql`SET LOCAL lock_timeout = 0`.execute(tx);
}

/** Opens the pool of a process; nothing connects before the first query. `onError` gets the trouble of idle connections. */
export function openDatabase(
  url: string,
  onError: (error: Error) => void,
  longestSilence?: number,
): Database {
  const pool = new pg.Pool({
    ...poolSettings(url, longestSilence),
    application_name: "graphform controller",
    // Numbers of eight bytes count events and fences here: none reaches 2^53.
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as "text"),
    },
  });
  pool.on("error", onError);
  // A connection that ends in a transaction fails its statement, and emits an error that would end the process if it had no listener.
  pool.on("connect", (client) => client.on("error", () => undefined));
  const dialect = Object.assign(new PostgresDialect({ pool }), {
    createDriver: () => Object.assign(new PostgresDriver({ pool }), { beginTransaction }),
  });
  return new Kysely<Schema>({ dialect }).withSchema(schema);
}

/** The code of the refusal to write while the database lacks something that this process has seen in it. */
export const databaseBehind = "database-behind-memory";

/** SQL states and codes of the network of a database that does not answer, or not now. A deadlock is one, and a lock that came too late: the statement may be repeated. */
const awayCodes =
  /^(08...|40...|53...|57...|55P03|25P03|25006|ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|state-unreachable|database-behind-memory)$/;
const awayWords =
  /timeout exceeded when trying to connect|query read timeout|connection (terminated|ended)|client (has encountered a connection error|was closed)/i;

/** True for an error that says nothing about the statement: a lost connection, a server that starts or ends, a deadlock. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // A socket that is not there: other files that are missing say nothing about the database.
  if ("syscall" in error && error.syscall === "connect") return true;
  return ("code" in error && awayCodes.test(String(error.code))) || awayWords.test(error.message);
}

/** Throws `database-*` in words of this program if the database does not answer, or refuses the login. */
export async function assertAnswers(url: string): Promise<void> {
  const database = openDatabase(url, () => undefined);
  try {
    await sql`SELECT 1`.execute(database);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const hint = "check --database-url, or GRAPHFORM_CONTROLLER_DATABASE_URL";
    if (code.startsWith("28") || /^SASL/.test(message))
      throw new GraphformError("database-denied", "the database refuses the user or its password", { hint });
    throw new GraphformError("database-unreachable", `the database does not answer: ${message || code}`, {
      hint,
    });
  } finally {
    await database.destroy();
  }
}
