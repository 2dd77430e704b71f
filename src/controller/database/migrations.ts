/** @module Makes and upgrades the controller's tables, one caller at a time. */
import { type Kysely, sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import type { Schema } from "./schema.ts";

/** Schema of the controller's tables, which the postgres store of states shares. */
export const schema = "graphform";

/**
 * Brings the tables to this version. Callers wait for each other by a lock that ends with the transaction. A version of the
 * program before this one goes on working: a migration only adds.
 */
export async function migrate(database: Kysely<Schema>): Promise<void> {
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
export async function pendingMigrations(database: Kysely<Schema>): Promise<readonly string[]> {
  const done = await sql<{ name: string }>`SELECT name FROM ${sql.table(`${schema}.migrations`)}`
    .execute(database)
    .then(({ rows }) => new Set(rows.map(({ name }) => name)))
    .catch(() => new Set<string>());
  return Object.keys(migrations).filter((name) => !done.has(name));
}

const first: Migration = {
  async up(database) {
    await sql
      .raw(`
      CREATE TABLE ${schema}.tenants (name text PRIMARY KEY);
      CREATE TABLE ${schema}.manifests (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        tenant text NOT NULL REFERENCES ${schema}.tenants,
        name text NOT NULL,
        source jsonb NOT NULL,
        upload jsonb,
        auto text NOT NULL,
        interval_seconds integer NOT NULL CHECK (interval_seconds > 0),
        next_due_at timestamptz NOT NULL,
        paused_until timestamptz,
        generation integer NOT NULL DEFAULT 1,
        commit text,
        approved_commit text,
        dirty boolean NOT NULL DEFAULT false,
        checked_at timestamptz,
        drifted_at timestamptz,
        trouble text,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        removed_at timestamptz
      );
      CREATE UNIQUE INDEX manifests_name ON ${schema}.manifests (tenant, name) WHERE removed_at IS NULL;
      CREATE INDEX manifests_due ON ${schema}.manifests (next_due_at) WHERE removed_at IS NULL;
      CREATE TABLE ${schema}.runs (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        manifest_id uuid NOT NULL REFERENCES ${schema}.manifests,
        tenant text NOT NULL,
        kind text NOT NULL,
        trigger text NOT NULL,
        status text NOT NULL,
        commit text,
        generation integer NOT NULL,
        fence integer NOT NULL DEFAULT 0,
        worker text,
        attempts integer NOT NULL DEFAULT 0,
        fingerprint text,
        verdict text,
        reasons jsonb NOT NULL DEFAULT '[]',
        plan jsonb,
        counts jsonb,
        exit_code integer,
        actor text NOT NULL,
        cancel_requested_at timestamptz,
        cancel_forced boolean NOT NULL DEFAULT false,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        ended_at timestamptz
      );
      CREATE UNIQUE INDEX runs_one_at_work ON ${schema}.runs (manifest_id) WHERE status IN ('planning', 'applying', 'converging');
      CREATE INDEX runs_open ON ${schema}.runs (manifest_id) WHERE ended_at IS NULL;
      CREATE INDEX runs_newest ON ${schema}.runs (manifest_id, created_at DESC);
      CREATE INDEX runs_ended ON ${schema}.runs (ended_at) WHERE ended_at IS NOT NULL;
      CREATE INDEX runs_of_tenant ON ${schema}.runs (tenant, created_at DESC);
      CREATE TABLE ${schema}.run_events (
        id bigserial PRIMARY KEY,
        run_id uuid NOT NULL REFERENCES ${schema}.runs,
        at timestamptz NOT NULL DEFAULT clock_timestamp(),
        event jsonb NOT NULL
      );
      CREATE INDEX run_events_of ON ${schema}.run_events (run_id, id);
      CREATE TABLE ${schema}.approvals (
        id bigserial PRIMARY KEY,
        run_id uuid NOT NULL REFERENCES ${schema}.runs,
        fingerprint text NOT NULL,
        actor text NOT NULL,
        decision text NOT NULL,
        at timestamptz NOT NULL DEFAULT clock_timestamp()
      );
      CREATE INDEX approvals_of ON ${schema}.approvals (run_id);
      CREATE TABLE ${schema}.tokens (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        hash text NOT NULL UNIQUE,
        role text NOT NULL,
        tenant text,
        name text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        expires_at timestamptz,
        revoked_at timestamptz
      );
      CREATE TABLE ${schema}.audit (
        id bigserial PRIMARY KEY,
        at timestamptz NOT NULL,
        tenant text,
        actor text NOT NULL,
        action text NOT NULL,
        subject text NOT NULL,
        details jsonb NOT NULL,
        previous text NOT NULL,
        hash text NOT NULL UNIQUE
      );
      CREATE FUNCTION ${schema}.audit_is_final() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the audit log is only added to'; END $$;
      CREATE TRIGGER audit_is_final BEFORE UPDATE OR DELETE OR TRUNCATE ON ${schema}.audit
        FOR EACH STATEMENT EXECUTE FUNCTION ${schema}.audit_is_final();
      CREATE TABLE ${schema}.workers (
        id text PRIMARY KEY,
        host text NOT NULL,
        pid integer NOT NULL,
        version text NOT NULL,
        slots integer NOT NULL,
        started_at timestamptz NOT NULL,
        seen_at timestamptz NOT NULL,
        takeovers integer NOT NULL DEFAULT 0,
        fenced integer NOT NULL DEFAULT 0
      );
      CREATE TABLE ${schema}.webhooks (
        manifest_id uuid NOT NULL REFERENCES ${schema}.manifests,
        receiver text NOT NULL,
        topic text NOT NULL,
        about text NOT NULL,
        since timestamptz NOT NULL,
        said_at timestamptz NOT NULL,
        PRIMARY KEY (manifest_id, receiver, topic)
      );
      CREATE TABLE ${schema}.answers (
        key text NOT NULL,
        token_id uuid NOT NULL,
        digest text NOT NULL,
        status integer NOT NULL,
        body text NOT NULL,
        at timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (token_id, key)
      );`)
      .execute(database);
  },
};

/** In the order of their names. */
const migrations: { readonly [name: string]: Migration } = { "0001-first": first };
