/** @module Reads and writes the rows of a state: its document, the versions before it, and its lease by the clock of the database. */
import { GraphformError } from "../../../model/errors.ts";
import { defined, textIn } from "../../../model/json.ts";
import { versionIn } from "../../document.ts";
import { holderWith } from "../../lock-words.ts";
import type { Holder } from "../../store.ts";
import type { StateDriver, Taken } from "../driver.ts";
import type { Row, Run } from "./connections.ts";

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
 * The tables of a schema. `patience`: longest wait for a locked row, in ms, so that a statement is not done after the run has stopped
 * waiting for it. A commit is on the disk when it is answered, at any default of the role.
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

/** Attempts to take a lock that is given back while its holder is looked up. */
const attempts = 5;

type StateRows = Omit<StateDriver, "where" | "expires" | "prepare" | "probe" | "close">;

/**
 * The rows of one state, and the newest `keep` versions of its document.
 *
 * One statement stores a document: it locks the row of the lease, so that no other run takes the lock over before the commit, and writes if
 * lease and version are still the expected ones. The fence of the lock rises with every holder and never falls; the same id keeps its
 * fence, so that an attempt whose answer was lost may be repeated.
 */
export function stateRows(run: Run, tables: Tables, name: string, keep: number): StateRows {
  const { states, versions, locks, settings } = tables;

  /** The holder of a lease that has not run out, and the ms since its last heartbeat by the database's clock. */
  const seenNow = async (): Promise<{ readonly by: Holder; readonly age?: number } | undefined> => {
    const [row] = await run(
      `SELECT holder, heartbeat_at, expires_at, (extract(epoch FROM clock_timestamp() - heartbeat_at) * 1000)::float8 AS age
      FROM ${locks}
      WHERE name = $1 AND holder_id IS NOT NULL AND expires_at > clock_timestamp()`,
      [name],
    );
    if (row === undefined) return undefined;
    const age = row["age"];
    return { by: readHolder(row), ...(typeof age === "number" ? { age: Math.max(0, age) } : {}) };
  };
  const remove = async (id: string): Promise<boolean> => {
    const rows = await run(
      `WITH ${settings}
      UPDATE ${locks} AS l SET holder_id = NULL, holder = NULL, lapsed = NULL, expires_at = '-infinity'
      FROM settings WHERE l.name = $1 AND l.holder_id = $2
      RETURNING fence`,
      [name, id],
    );
    return rows.length > 0;
  };

  return {
    async read() {
      const [row] = await run(`SELECT document, version FROM ${states} WHERE name = $1`, [name]);
      return row && { text: textOf(row, "document"), version: textOf(row, "version") };
    },
    async write(text, expected, lease) {
      const { lineage, serial } = versionIn(text);
      // The versions go on if a row was deleted by hand: none of them ever comes a second time.
      const saved =
        expected === undefined
          ? `INSERT INTO ${states} (name, version, lineage, serial, fence, document, updated_at)
            SELECT $1, coalesce((SELECT max(version) FROM ${versions} WHERE name = $1), 0) + 1, $5, $6, $3, $4, clock_timestamp()
            FROM lease WHERE $8::bigint IS NULL
            ON CONFLICT (name) DO NOTHING RETURNING version, updated_at`
          : `UPDATE ${states} SET version = version + 1, lineage = $5, serial = $6, fence = $3, document = $4, updated_at = clock_timestamp()
            WHERE name = $1 AND version = $8 AND EXISTS (SELECT FROM lease) RETURNING version, updated_at`;
      const [row] = await run(
        `WITH ${settings},
        lease AS MATERIALIZED (
          SELECT l.fence FROM ${locks} AS l, settings
          WHERE l.name = $1 AND l.holder_id = $2 AND l.fence = $3::bigint AND l.expires_at > clock_timestamp() FOR UPDATE OF l
        ),
        saved AS (${saved}),
        kept AS (
          INSERT INTO ${versions} (name, version, serial, fence, document, saved_at)
          SELECT $1, version, $6, $3, $4, updated_at FROM saved WHERE $7::integer > 0
        ),
        dropped AS (
          DELETE FROM ${versions} WHERE name = $1 AND version <= (SELECT version FROM saved) - $7::integer
        )
        SELECT version FROM saved`,
        [name, lease.holder.id, lease.token, text, lineage, serial, keep, expected ?? null],
      );
      return row === undefined ? { is: "stale" } : { is: "written", version: textOf(row, "version") };
    },
    async history(limit) {
      if (keep === 0) return undefined;
      const rows = await run(
        `SELECT version, serial, saved_at FROM ${versions} WHERE name = $1 ORDER BY version DESC LIMIT $2`,
        [name, limit ?? null],
      );
      return rows.map((row) => ({
        id: textOf(row, "version"),
        serial: numberOf(row, "serial"),
        savedAt: timeOf(row, "saved_at"),
      }));
    },
    async readVersion(id) {
      const [row] = /^\d{1,18}$/.test(id)
        ? await run(`SELECT document FROM ${versions} WHERE name = $1 AND version = $2`, [name, id])
        : [];
      if (row !== undefined) return textOf(row, "document");
      throw new GraphformError("version-unknown", `the state ${name} has no version ${id}`, {
        hint: "graphform state history lists the versions that are kept",
      });
    },
    async take(holder) {
      for (let left = attempts; left > 0; left -= 1) {
        const [row] = await run(
          `WITH ${settings}
          INSERT INTO ${locks} AS l (name, holder_id, holder, fence, heartbeat_at, expires_at)
            SELECT $1, $2, $3::jsonb, 1, clock_timestamp(), clock_timestamp() + make_interval(secs => $4::float8 / 1000) FROM settings
          ON CONFLICT (name) DO UPDATE SET
            holder_id = excluded.holder_id,
            holder = excluded.holder,
            lapsed = CASE WHEN l.holder_id = excluded.holder_id THEN l.lapsed ELSE l.holder END,
            fence = CASE WHEN l.holder_id = excluded.holder_id THEN l.fence ELSE l.fence + 1 END,
            heartbeat_at = clock_timestamp(),
            expires_at = clock_timestamp() + make_interval(secs => $4::float8 / 1000)
          WHERE l.expires_at < clock_timestamp() OR l.holder_id = excluded.holder_id
          RETURNING fence, holder, lapsed, heartbeat_at, expires_at`,
          [name, holder.id, JSON.stringify(holder), leaseOf(holder)],
        );
        if (row !== undefined) return takenFrom(row);
        const seen = await seenNow();
        if (seen !== undefined) return { is: "held", ...seen };
      }
      throw new GraphformError("state-unreachable", "the lock changed hands while it was being taken", {
        hint: "run the command again",
      });
    },
    // Also a lease that has run out, unless another run took it.
    async renew(_lease, holder) {
      const [row] = await run(
        `WITH ${settings}
        UPDATE ${locks} AS l SET holder = $3::jsonb, heartbeat_at = clock_timestamp(),
          expires_at = clock_timestamp() + make_interval(secs => $4::float8 / 1000)
        FROM settings WHERE l.name = $1 AND l.holder_id = $2
        RETURNING fence, l.holder, heartbeat_at, expires_at`,
        [name, holder.id, JSON.stringify(holder), leaseOf(holder)],
      );
      if (row !== undefined)
        return { is: "renewed", lease: { holder: readHolder(row), token: textOf(row, "fence") } };
      const to = (await seenNow())?.by;
      return { is: "lost", ...defined({ to }) };
    },
    release: async ({ holder }) => void (await remove(holder.id)),
    holder: async () => (await seenNow())?.by,
    remove,
  };
}

/** Length of a lease in ms, as its holder says it. */
function leaseOf(holder: Holder): number {
  return Date.parse(holder.expires) - Date.parse(holder.heartbeat);
}

function takenFrom(row: Row): Taken {
  const lease = { holder: readHolder(row), token: textOf(row, "fence") };
  // Times of a holder that is gone are the ones that it wrote itself.
  return row["lapsed"] === null
    ? { is: "taken", lease }
    : { is: "taken", lease, over: readHolder({ holder: row["lapsed"] }) };
}

/** A text, or a number of eight bytes, which comes as a text or as a number: the driver of the connection says. */
function textOf(row: Row, column: string): string {
  const value = row[column];
  if (typeof value === "string" || Number.isSafeInteger(value)) return String(value);
  throw notOurs(column);
}

export function numberOf(row: Row, column: string): number {
  const value = Number(row[column]);
  if (Number.isSafeInteger(value)) return value;
  throw notOurs(column);
}

function timeOf(row: Row, column: string): string {
  const value = row[column];
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  throw notOurs(column);
}

function notOurs(column: string): GraphformError {
  const message = `the state in PostgreSQL: column ${column} has a value that graphform does not write`;
  const hint = "name another schema with state.schema; these tables belong to something else";
  return new GraphformError("state-unsuitable", message, { hint });
}

/** The holder of a row; fields that a person has edited away are unknown. */
function readHolder(row: Row): Holder {
  const stored = row["holder"];
  const fields: Row = typeof stored === "object" && stored !== null ? { ...stored } : {};
  const text = (key: string): string | undefined => textIn(fields[key]);
  const time = (key: string): string | undefined => {
    const value = row[`${key}_at`];
    return value instanceof Date ? value.toISOString() : text(key);
  };
  const [id, who, host, operation, created] = ["id", "who", "host", "operation", "created"].map(text);
  const pid = typeof fields["pid"] === "number" ? fields["pid"] : undefined;
  const times = { created, heartbeat: time("heartbeat"), expires: time("expires") };
  return holderWith(defined({ id, who, pid, host, operation, ...times }));
}
