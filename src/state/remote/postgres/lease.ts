/** @module Takes, renews and gives back the lease of a state: one row, by the database's clock. */
import { GraphformError } from "../../../model/errors.ts";
import type { Holder } from "../../store.ts";
import type { Renewed, Taken } from "../driver.ts";
import type { Row, Run } from "./connections.ts";
import { textOf } from "./documents.ts";
import type { Tables } from "./tables.ts";

/** Attempts to take a lock that is given back while its holder is looked up. */
const attempts = 5;

/** Length of a lease in ms, as its holder says it. */
function leaseOf(holder: Holder): number {
  return Date.parse(holder.expires) - Date.parse(holder.heartbeat);
}

/**
 * Takes the lock. The fence rises with every holder and never falls, because the row stays when a lock is given back; the
 * same id keeps its fence, so that an attempt whose answer was lost may be repeated.
 */
export async function take(run: Run, tables: Tables, name: string, holder: Holder): Promise<Taken> {
  for (let left = attempts; left > 0; left -= 1) {
    const [row] = await run(
      `WITH ${tables.settings}
      INSERT INTO ${tables.locks} AS l (name, holder_id, holder, fence, heartbeat_at, expires_at)
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
    const seen = await seenNow(run, tables, name);
    if (seen !== undefined) return { is: "held", ...seen };
  }
  throw new GraphformError("state-unreachable", "the lock changed hands while it was being taken", {
    hint: "run the command again",
  });
}

function takenFrom(row: Row): Taken {
  const lease = { holder: readHolder(row), token: textOf(row, "fence") };
  // Times of a holder that is gone are the ones that it wrote itself.
  return row["lapsed"] === null
    ? { is: "taken", lease }
    : { is: "taken", lease, over: readHolder({ holder: row["lapsed"] }) };
}

/** Renews the lease of this id, also one that has run out while nobody took it. */
export async function renew(run: Run, tables: Tables, name: string, holder: Holder): Promise<Renewed> {
  const [row] = await run(
    `WITH ${tables.settings}
    UPDATE ${tables.locks} AS l SET holder = $3::jsonb, heartbeat_at = clock_timestamp(),
      expires_at = clock_timestamp() + make_interval(secs => $4::float8 / 1000)
    FROM settings WHERE l.name = $1 AND l.holder_id = $2
    RETURNING fence, l.holder, heartbeat_at, expires_at`,
    [name, holder.id, JSON.stringify(holder), leaseOf(holder)],
  );
  if (row !== undefined)
    return { is: "renewed", lease: { holder: readHolder(row), token: textOf(row, "fence") } };
  const to = await holderNow(run, tables, name);
  return to === undefined ? { is: "lost" } : { is: "lost", to };
}

/** Gives the lock of this id back, whoever holds it; false where it has another id. The row stays, with its fence. */
export async function release(run: Run, tables: Tables, name: string, id: string): Promise<boolean> {
  const rows = await run(
    `WITH ${tables.settings}
    UPDATE ${tables.locks} AS l SET holder_id = NULL, holder = NULL, lapsed = NULL, expires_at = '-infinity'
    FROM settings WHERE l.name = $1 AND l.holder_id = $2
    RETURNING fence`,
    [name, id],
  );
  return rows.length > 0;
}

/** The holder of a lease that has not run out. */
export async function holderNow(run: Run, tables: Tables, name: string): Promise<Holder | undefined> {
  return (await seenNow(run, tables, name))?.by;
}

/** The same, and the ms since its last heartbeat by the database's clock. */
async function seenNow(
  run: Run,
  tables: Tables,
  name: string,
): Promise<{ readonly by: Holder; readonly age?: number } | undefined> {
  const [row] = await run(
    `SELECT holder, heartbeat_at, expires_at, (extract(epoch FROM clock_timestamp() - heartbeat_at) * 1000)::float8 AS age
    FROM ${tables.locks}
    WHERE name = $1 AND holder_id IS NOT NULL AND expires_at > clock_timestamp()`,
    [name],
  );
  if (row === undefined) return undefined;
  const age = row["age"];
  return { by: readHolder(row), ...(typeof age === "number" ? { age: Math.max(0, age) } : {}) };
}

/** The holder of a row; what somebody has edited away reads as unknown. */
function readHolder(row: Row): Holder {
  const stored = row["holder"];
  const fields: Row = typeof stored === "object" && stored !== null ? { ...stored } : {};
  const text = (key: string, otherwise: string): string => {
    const value = fields[key];
    return typeof value === "string" ? value : otherwise;
  };
  const time = (key: string, column: string): string => {
    const value = row[column];
    return value instanceof Date ? value.toISOString() : text(key, new Date(0).toISOString());
  };
  const pid = fields["pid"];
  return {
    id: text("id", ""),
    who: text("who", "somebody"),
    pid: typeof pid === "number" ? pid : 1,
    host: text("host", "unknown"),
    operation: text("operation", "something"),
    created: text("created", new Date(0).toISOString()),
    heartbeat: time("heartbeat", "heartbeat_at"),
    expires: time("expires", "expires_at"),
  };
}
