/** @module Makes everything that a controller keeps in its database, and upgrades it: its own tables, those of states, and the queue. */
import { type Kysely, sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { GraphformError, loadManifest, openState } from "../../index.ts";
import { installQueue } from "../queue/queue.ts";
import { type Database, openDatabase, waitWithoutLimit } from "./connect.ts";
import { added, schema, tables } from "./schema.ts";

interface Columns {
  readonly [table: string]: { readonly [column: string]: string };
}

async function createTables(database: Kysely<unknown>, created: Columns): Promise<void> {
  for (const [name, columns] of Object.entries(created)) {
    const rows = Object.entries(columns).map(([column, type]) => `${column} ${type}`);
    await sql.raw(`CREATE TABLE ${schema}.${name} (${rows.join(", ")})`).execute(database);
  }
}

const first: Migration = {
  async up(database) {
    await createTables(database, tables);
    await sql.raw(indexes).execute(database);
  },
};

const restored: Migration = {
  async up(database) {
    await createTables(database, added.tables);
    await addToManifests(database, "restored_to");
    await sql.raw(moreIndexes).execute(database);
  },
};

const plannedCommit: Migration = {
  async up(database) {
    await addToManifests(database, "planned_commit");
    await sql
      .raw(`CREATE INDEX runs_idle ON ${schema}.runs (ended_at) WHERE status IN ('blocked', 'superseded')`)
      .execute(database);
  },
};

async function addToManifests(
  database: Kysely<unknown>,
  column: keyof typeof added.manifests,
): Promise<void> {
  const type = added.manifests[column];
  await sql.raw(`ALTER TABLE ${schema}.manifests ADD COLUMN ${column} ${type}`).execute(database);
}

/**
 * Adds to each state, as JSON, what the controller asks of all states at once, so that it reads no documents: the ids of its objects, and
 * `settled`: it has some, and no open creates. Null for a document that PostgreSQL cannot read: it must not keep others from their runs.
 */
const stateFacts: Migration = {
  async up(database) {
    await sql.raw(facts).execute(database);
  },
};

const facts = `
  CREATE FUNCTION ${schema}.state_facts(document text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
    DECLARE state jsonb;
    BEGIN
      state := document::jsonb;
      RETURN jsonb_build_object('ids', jsonb_path_query_array(state, '$.resources.*.id'),
        'settled', state -> 'intents' = '{}' AND state -> 'resources' <> '{}')::text;
    EXCEPTION WHEN OTHERS THEN RETURN NULL;
    END $$;
  GRANT EXECUTE ON FUNCTION ${schema}.state_facts TO PUBLIC;
  ALTER TABLE ${schema}.states ADD COLUMN facts text GENERATED ALWAYS AS (${schema}.state_facts(document)) STORED;`;

const indexes = `
  CREATE UNIQUE INDEX manifests_name ON ${schema}.manifests (tenant, name) WHERE removed_at IS NULL;
  CREATE INDEX manifests_due ON ${schema}.manifests (next_due_at) WHERE removed_at IS NULL;
  ALTER TABLE ${schema}.uploads ADD PRIMARY KEY (manifest_id, digest);
  CREATE UNIQUE INDEX runs_one_at_work ON ${schema}.runs (manifest_id) WHERE status IN ('planning', 'applying', 'converging');
  CREATE INDEX runs_open ON ${schema}.runs (manifest_id) WHERE ended_at IS NULL;
  CREATE INDEX runs_newest ON ${schema}.runs (manifest_id, created_at DESC);
  CREATE INDEX runs_ended ON ${schema}.runs (ended_at) WHERE ended_at IS NOT NULL;
  CREATE INDEX runs_of_tenant ON ${schema}.runs (tenant, created_at DESC);
  CREATE INDEX run_events_of ON ${schema}.run_events (run_id, id);
  CREATE INDEX approvals_of ON ${schema}.approvals (run_id);
  ALTER TABLE ${schema}.webhooks ADD PRIMARY KEY (manifest_id, receiver, topic);
  ALTER TABLE ${schema}.answers ADD PRIMARY KEY (token_id, key);
  CREATE FUNCTION ${schema}.audit_is_final() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the audit log is only added to'; END $$;
  CREATE TRIGGER audit_is_final BEFORE UPDATE OR DELETE OR TRUNCATE ON ${schema}.audit
    FOR EACH STATEMENT EXECUTE FUNCTION ${schema}.audit_is_final();`;

/** Of the list of all runs, and of the checks that are old enough to be forgotten. */
const moreIndexes = `
  CREATE INDEX runs_of_all ON ${schema}.runs (created_at DESC, id DESC);
  CREATE INDEX runs_checks ON ${schema}.runs (ended_at) WHERE status = 'planned_and_finished';`;

/** In the order of their names. A migration only adds: a version of the program before it goes on working. */
const migrations: { readonly [name: string]: Migration } = {
  "0001-first": first,
  "0002-restored": restored,
  "0003-state-facts": stateFacts,
  "0004-planned-commit": plannedCommit,
};

/** Brings the tables to this version, beside those of states; callers wait for each other by a lock that ends with the transaction. */
export async function migrate(database: Kysely<never> | Database): Promise<void> {
  const migrator = new Migrator({
    db: database,
    provider: { getMigrations: async () => migrations },
    migrationTableSchema: schema,
    migrationTableName: "migrations",
    migrationLockTableName: "migrations_lock",
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

/** Names of migrations that the database lacks. Empty means up to date. */
export async function pendingMigrations(database: Database): Promise<readonly string[]> {
  try {
    const found =
      await sql`SELECT FROM pg_tables WHERE schemaname = ${schema} AND tablename = 'migrations'`.execute(
        database,
      );
    if (found.rows.length === 0) return Object.keys(migrations);
    const { rows } = await sql<{
      name: string;
    }>`SELECT name FROM ${sql.table(`${schema}.migrations`)}`.execute(database);
    return Object.keys(migrations).filter((name) => rows.every((done) => done.name !== name));
  } catch (error) {
    throw inWords(error);
  }
}

/** The words for the refusal to a role that owns not all that it must change; other errors as they are. */
function inWords(error: unknown): unknown {
  // The second is the word of the store of states.
  const isDenied =
    error instanceof Error && "code" in error && /^(42501|state-denied)$/.test(String(error.code));
  if (!isDenied) return error;
  const message = `the role of the database may not change what another role has made there: ${error.message}`;
  const hint =
    "name the role that made the tables of states in --database-url, or make yours a member of it: GRANT owner TO role";
  return new GraphformError("database-owner", message, { hint });
}

/** Brings a database to this version; resolves with the migrations that it lacked. Throws `database-owner`. Several may start at once, behind PgBouncer too. */
export async function prepareDatabase(url: string): Promise<readonly string[]> {
  const database = openDatabase(url, () => undefined);
  try {
    return await database.transaction().execute(async (tx) => {
      await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(tx);
      await waitWithoutLimit(tx);
      await sql`SELECT pg_advisory_xact_lock(4707180346)`.execute(tx);
      const pending = await pendingMigrations(database);
      // The tables of states are those of the postgres store, which the command line uses too.
      const objects = [{ apiVersion: "graphform/v1", name: "preparation" }];
      const manifest = await loadManifest({ objects, env: { GRAPHFORM_STATE_POSTGRES_URL: url } });
      await openState(manifest, { path: "postgres:///?name=preparation" }).prepare();
      // The migrator refuses a database that a later version has brought further, which this one can use.
      if (pending.length > 0) await migrate(database);
      await installQueue(url);
      return pending;
    });
  } catch (error) {
    throw inWords(error);
  } finally {
    await database.destroy();
  }
}
