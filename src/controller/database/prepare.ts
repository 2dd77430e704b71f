/** @module Makes everything that a controller keeps in its database: its own tables, those of states, and the queue. */
import { sql } from "kysely";
import { GraphformError, loadManifest, openState } from "../../index.ts";
import { installQueue } from "../queue/queue.ts";
import { openDatabase } from "./connect.ts";
import { migrate, pendingMigrations } from "./migrations.ts";

/** Key of the lock under which databases are prepared, one caller after the other. */
const lock = 4_707_180_346;

/**
 * Brings a database to this version of the program; resolves with the names of the migrations that it lacked. Several may start at once:
 * the lock ends with its transaction, so that it holds behind PgBouncer too.
 */
export async function prepareDatabase(url: string): Promise<readonly string[]> {
  const database = openDatabase(url, () => undefined);
  try {
    return await database.transaction().execute(async (tx) => {
      await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(tx);
      await sql`SELECT pg_advisory_xact_lock(${lock})`.execute(tx);
      const pending = await pendingMigrations(database);
      await migrate(database);
      await prepareStates(url);
      await installQueue(url);
      return pending;
    });
  } finally {
    await database.destroy();
  }
}

/** Makes the tables of states: those of the postgres store, which the command line uses too. */
async function prepareStates(url: string): Promise<void> {
  const env = { GRAPHFORM_STATE_POSTGRES_URL: url };
  const manifest = await loadManifest({
    objects: [{ apiVersion: "graphform/v1", name: "preparation" }],
    env,
  });
  await openState(manifest, { path: "postgres:///?name=preparation" }).prepare();
}

/** Throws `database-*` in words of this program if the database does not answer, or refuses the login. */
export async function assertAnswers(url: string): Promise<void> {
  const database = openDatabase(url, () => undefined);
  try {
    await sql`SELECT 1`.execute(database);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const isLogin = code.startsWith("28") || /^SASL/.test(message);
    throw new GraphformError(
      isLogin ? "database-denied" : "database-unreachable",
      isLogin
        ? "the database refuses the user or its password"
        : `the database does not answer: ${message || code}`,
      { hint: "check --database-url, or GRAPHFORM_CONTROLLER_DATABASE_URL" },
    );
  } finally {
    await database.destroy();
  }
}
