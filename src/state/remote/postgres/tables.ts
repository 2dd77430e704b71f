/** @module Names the tables of a schema, and writes the statements that make them and look at them. */

/** Quoted names, and the beginning of every statement that writes. */
export interface Tables {
  readonly schema: string;
  readonly states: string;
  readonly versions: string;
  readonly locks: string;
  /** A part of `WITH`: settings for one transaction. */
  readonly settings: string;
}

/**
 * The tables of a schema. `patience` is the longest wait for a row that somebody else has locked, in ms: set before the first
 * lock is asked for, so that a statement ends by itself and is not done when nobody waits for it any more. A commit is on
 * the disk when it is answered, whatever the default of the role is.
 */
export function tablesIn(schema: string, patience: number): Tables {
  const quoted = `"${schema.replaceAll('"', '""')}"`;
  return {
    schema: quoted,
    states: `${quoted}.states`,
    versions: `${quoted}.state_versions`,
    locks: `${quoted}.locks`,
    settings: `settings AS MATERIALIZED (
      SELECT set_config('lock_timeout', '${Math.ceil(patience)}', true) AS patience,
        CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END AS durable
    )`,
  };
}

/**
 * Statements that make what is missing, in one transaction. The first one lets several callers do it one after the other:
 * `IF NOT EXISTS` alone fails where two of them create at the same time. Its lock ends with the transaction. The second one makes
 * the server hear of what the others have created: a session remembers which names there are not, until it opens a table.
 */
export function creation(tables: Tables, hasSchema: boolean): string {
  const { schema, states, versions, locks } = tables;
  return `
    SELECT set_config('lock_timeout', '10s', true), pg_advisory_xact_lock(hashtext('graphform'), hashtext('${schema.replaceAll("'", "''")}'));
    SELECT FROM pg_catalog.pg_namespace LIMIT 1;
    ${hasSchema ? "" : `CREATE SCHEMA IF NOT EXISTS ${schema};`}
    CREATE TABLE IF NOT EXISTS ${states} (
      name text PRIMARY KEY,
      version bigint NOT NULL,
      lineage text NOT NULL,
      serial bigint NOT NULL,
      fence bigint NOT NULL,
      document text NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE TABLE IF NOT EXISTS ${versions} (
      name text NOT NULL,
      version bigint NOT NULL,
      serial bigint NOT NULL,
      fence bigint NOT NULL,
      document text NOT NULL,
      saved_at timestamptz NOT NULL,
      PRIMARY KEY (name, version)
    );
    CREATE TABLE IF NOT EXISTS ${locks} (
      name text PRIMARY KEY,
      holder_id text,
      holder jsonb,
      lapsed jsonb,
      fence bigint NOT NULL,
      heartbeat_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL
    );`;
}

/** Looks at the server and at the tables. Value 1 is the quoted schema, 2 to 4 are the quoted names of the tables. */
export const inspection = `
  WITH found AS (
    SELECT to_regnamespace($1) AS schema, to_regclass($2) AS states, to_regclass($3) AS versions, to_regclass($4) AS locks
  )
  SELECT
    current_setting('server_version_num')::integer AS release,
    current_setting('server_encoding') AS encoding,
    pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS standby,
    schema IS NOT NULL AS "hasSchema",
    states IS NOT NULL AND versions IS NOT NULL AND locks IS NOT NULL AS "hasTables",
    has_table_privilege(states, 'SELECT') AND has_table_privilege(states, 'INSERT') AND has_table_privilege(states, 'UPDATE')
      AND has_table_privilege(versions, 'SELECT') AND has_table_privilege(versions, 'INSERT') AND has_table_privilege(versions, 'DELETE')
      AND has_table_privilege(locks, 'SELECT') AND has_table_privilege(locks, 'INSERT') AND has_table_privilege(locks, 'UPDATE')
      AS "mayUse"
  FROM found`;
