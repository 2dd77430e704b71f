/** @module Reads and writes the document of a state, and the versions before it. */
import { GraphformError } from "../../../model/errors.ts";
import type { KeptVersion, Lease, Stored, Written } from "../driver.ts";
import type { Row, Run } from "./connections.ts";
import type { Tables } from "./tables.ts";

/** The stored document with its row version; undefined where there is none. */
export async function read(run: Run, { states }: Tables, name: string): Promise<Stored | undefined> {
  const [row] = await run(`SELECT document, version FROM ${states} WHERE name = $1`, [name]);
  return row === undefined ? undefined : { text: textOf(row, "document"), version: textOf(row, "version") };
}

/** A document to be stored, and the number of versions to keep. */
export interface NewVersion {
  readonly text: string;
  readonly expected: string | undefined;
  readonly lease: Lease;
  readonly keep: number;
}

/**
 * Stores a document in one statement: it locks the row of the lease first, so that nobody takes the lock over before the
 * commit, and writes where lease and version are still the expected ones. A lease that is being taken away is waited for.
 */
export async function write(
  run: Run,
  tables: Tables,
  name: string,
  { text, expected, lease, keep }: NewVersion,
): Promise<Written> {
  const { states, versions, locks } = tables;
  const { lineage, serial } = headOf(text);
  // The versions go on where a row was deleted by hand: none of them ever comes a second time.
  const saved =
    expected === undefined
      ? `INSERT INTO ${states} (name, version, lineage, serial, fence, document, updated_at)
        SELECT $1, coalesce((SELECT max(version) FROM ${versions} WHERE name = $1), 0) + 1, $5, $6, $3, $4, clock_timestamp()
        FROM lease WHERE $8::bigint IS NULL
        ON CONFLICT (name) DO NOTHING RETURNING version, updated_at`
      : `UPDATE ${states} SET version = version + 1, lineage = $5, serial = $6, fence = $3, document = $4, updated_at = clock_timestamp()
        WHERE name = $1 AND version = $8 AND EXISTS (SELECT FROM lease) RETURNING version, updated_at`;
  const [row] = await run(
    `WITH ${tables.settings},
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
}

/** Versions that are kept, newest first. */
export async function history(
  run: Run,
  { versions }: Tables,
  name: string,
  limit?: number,
): Promise<readonly KeptVersion[]> {
  const rows = await run(
    `SELECT version, serial, saved_at FROM ${versions} WHERE name = $1 ORDER BY version DESC LIMIT $2`,
    [name, limit ?? null],
  );
  return rows.map((row) => ({
    id: textOf(row, "version"),
    serial: numberOf(row, "serial"),
    savedAt: timeOf(row, "saved_at"),
  }));
}

/** The document of a kept version. Rejects with `version-unknown`. */
export async function readVersion(run: Run, { versions }: Tables, name: string, id: string): Promise<string> {
  const [row] = /^\d{1,18}$/.test(id)
    ? await run(`SELECT document FROM ${versions} WHERE name = $1 AND version = $2`, [name, id])
    : [];
  if (row !== undefined) return textOf(row, "document");
  throw new GraphformError("version-unknown", `the state ${name} has no version ${id}`, {
    hint: "graphform state history lists the versions that are kept",
  });
}

/** Lineage and serial of a document, for the columns that people read; a text that is no document has none. */
function headOf(text: string): { readonly lineage: string; readonly serial: number } {
  try {
    const { lineage, serial }: { lineage?: unknown; serial?: unknown } = JSON.parse(text);
    return {
      lineage: typeof lineage === "string" ? lineage : "",
      serial: Number.isSafeInteger(serial) ? Number(serial) : 0,
    };
  } catch {
    return { lineage: "", serial: 0 };
  }
}

/** A text, or a number that fits no number of JavaScript. */
export function textOf(row: Row, column: string): string {
  const value = row[column];
  if (typeof value === "string") return value;
  throw notOurs(column);
}

/** A number, however it is sent. */
export function numberOf(row: Row, column: string): number {
  const value = Number(row[column]);
  if (Number.isSafeInteger(value)) return value;
  throw notOurs(column);
}

/** A time as ISO 8601. */
function timeOf(row: Row, column: string): string {
  const value = row[column];
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  throw notOurs(column);
}

function notOurs(column: string): GraphformError {
  return new GraphformError(
    "state-unsuitable",
    `the state in PostgreSQL: column ${column} has a value that graphform does not write`,
    { hint: "name another schema with state.schema; these tables belong to something else" },
  );
}
