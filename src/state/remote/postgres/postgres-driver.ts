/** @module Keeps a state in PostgreSQL: makes and checks its tables, rows with versions, and a lease with a fence. */
import { randomBytes } from "node:crypto";
import { GraphformError } from "../../../model/errors.ts";
import { defined } from "../../../model/json.ts";
import { type PostgresLocation, postgres } from "../../../model/stores/postgres.ts";
import type { GetVariable } from "../../../model/stores/store-description.ts";
import type { Holder } from "../../store.ts";
import type { OpenDriver, StateDriver } from "../driver.ts";
import { connectionSettings, type PostgresConfig, type PostgresCredentials } from "./connection-settings.ts";
import {
  type Connections,
  openConnections,
  type Place,
  postgresTrouble,
  type Row,
  type Run,
} from "./connections.ts";
import { numberOf, stateRows, type Tables, tablesIn } from "./state-rows.ts";

export const openDriver: OpenDriver<PostgresLocation> = (
  { type: _, ...location },
  { variable, isOtherEnd },
) => createPostgresDriver(location, postgresValues(variable, isOtherEnd));

/** The variables that a database of a state is found and signed in to with, by the name that PostgreSQL has for each. */
export function postgresValues(
  variable: GetVariable,
  isOtherEnd = false,
): { readonly [variable: string]: string } {
  const url = variable(isOtherEnd ? "GRAPHFORM_STATE_TO_POSTGRES_URL" : "GRAPHFORM_STATE_POSTGRES_URL");
  const names = Object.keys(postgres.variables).filter((name) => name.startsWith("PG"));
  const given = Object.fromEntries(names.map((name) => [name, variable(name)]));
  return defined({ ...given, GRAPHFORM_STATE_POSTGRES_URL: url });
}

/** Nothing connects before the first call. Throws `state-unsuitable` for settings that make no sense, and `state-denied` without a user. */
export function createPostgresDriver(config: PostgresConfig, credentials: PostgresCredentials): StateDriver {
  const { name, schema = "graphform", versions = 50 } = config;
  if (schema === "" || Buffer.byteLength(schema) > 63) {
    const message = "the schema of the state has no name, or a name of over 63 bytes";
    const hint = "correct state.schema; the default is graphform";
    throw new GraphformError("state-unsuitable", message, { hint });
  }
  const settings = connectionSettings(config, credentials);
  const { where } = settings;
  const place = { where, schema };
  const connections = openConnections(settings, place);
  const { run } = connections;
  const tables = tablesIn(schema, settings.requestTimeout / 2);
  return {
    where,
    expires: true,
    ...stateRows(run, tables, name, versions),
    prepare: () => prepare(connections, tables, place),
    probe: () => probe(run, tables, place),
    close: connections.close,
  };
}

/** Creates missing tables and tests them; may run at the same time elsewhere. Rejects as `probe` does. */
async function prepare({ run, attempt }: Connections, tables: Tables, place: Place): Promise<void> {
  const { hasSchema, hasTables } = await inspect(run, tables, place);
  if (hasTables !== true)
    await run(creation(tables, hasSchema === true)).catch((error: unknown) => {
      // A user that may not create them lacks the tables, not the right to use them: the message names the tables.
      throw error instanceof GraphformError && error.code === "state-denied"
        ? postgresTrouble(sqlState("42P01"), place)
        : error;
    });
  await probe(run, tables, place);
  await attempt((run) => rehearse(run, tables, place));
}

/** Looks whether server, tables and rights are those that a state needs. Rejects with `state-unsuitable`, `state-denied`. */
async function probe(run: Run, tables: Tables, place: Place): Promise<void> {
  const { hasTables, mayUse } = await inspect(run, tables, place);
  if (hasTables !== true) throw postgresTrouble(sqlState("42P01"), place);
  if (mayUse !== true) throw postgresTrouble(sqlState("42501"), place);
}

async function inspect(run: Run, tables: Tables, { where }: Place): Promise<Row> {
  const [row] = await run(inspection, [tables.schema, tables.states, tables.versions, tables.locks]);
  const refuse = (what: string, hint: string): GraphformError =>
    new GraphformError("state-unsuitable", `the state ${where}: PostgreSQL ${what}`, { hint });
  if (row === undefined) throw refuse("answers nothing that makes sense", "name a PostgreSQL server");
  if (numberOf(row, "release") < 120_000) throw refuse("is older than 12", "use a newer one");
  if (row["standby"] === true)
    throw refuse("takes no writes: it is a standby, or the user may only read", "name the primary");
  if (row["encoding"] !== "UTF8")
    throw refuse("does not keep texts as UTF8", "use a database with the encoding UTF8");
  return row;
}

/** Goes through a lock and writes under a name of its own, in a transaction that is rolled back. */
async function rehearse(run: Run, tables: Tables, { where }: Place): Promise<void> {
  const id = randomBytes(8).toString("hex");
  const name = `rehearsal ${id}`;
  const time = new Date(0).toISOString();
  const expires = new Date(60_000).toISOString();
  const about = { who: "graphform", pid: 1, host: "here", operation: "state init", created: time };
  const holder: Holder = { ...about, id, heartbeat: time, expires };
  const { take, write } = stateRows(run, tables, name, 1);
  const taken = await take(holder);
  const other = await take({ ...holder, id: `${id}0` });
  if (taken.is !== "taken" || other.is !== "held") throw unsafe(where, "two holders got one lock");
  const { lease } = taken;
  const first = await write("{}", undefined, lease);
  if (first.is !== "written") throw unsafe(where, "a write had no effect");
  const stale = await write("{}", undefined, lease);
  const fenced = await write("{}", first.version, { ...lease, token: "0" });
  if (stale.is !== "stale" || fenced.is !== "stale")
    throw unsafe(where, "a write that should have been refused was done");
}

function unsafe(where: string, what: string): GraphformError {
  return new GraphformError("state-unsuitable", `the state ${where}: in a rehearsal ${what}`, {
    hint: "the tables have rules or triggers that are not graphform's; name another schema with state.schema",
  });
}

function sqlState(code: string): Error {
  return Object.assign(new Error(code), { code, severity: "ERROR" });
}

/**
 * Makes what is missing, in one transaction. The first statement lets several callers do it one after the other: `IF NOT EXISTS` alone
 * fails if two create at the same time. The second makes the session hear of tables that others have created.
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
const inspection = `
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
