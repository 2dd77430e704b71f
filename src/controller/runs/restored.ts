/** @module Detects that the database was restored from a copy: changes made after the copy exist at the service and are not known here. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type RawBuilder, sql } from "kysely";
import { addAudit } from "../database/audit.ts";
import { type Database, databaseTime, type Tx, waitWithoutLimit } from "../database/connect.ts";
import type { OriginPart } from "../database/schema.ts";
import { lockManifest, moveRun, openRuns, outcome, setManifest } from "./run-moves.ts";
import { lacksSeen, newestEvent, remember } from "./seen-events.ts";
import { isWay, making } from "./transitions.ts";

/** The sentence for a person who looks at a plan that was made from a copy. */
export function restoredWords(to: Date): string {
  return `since ${to.toISOString()} it may not be known here what was made or changed: the database was put back from a copy, or this state was written or removed from outside; see first that nothing of this plan exists already`;
}

/** Ms between two comparisons of a process, and after a failover before a run may change something: a process that hangs on the old server ends its connection meanwhile, and compares. */
const [comparedEvery, settling] = [10_000, 120_000];

/** Compares again and again, in each process of a controller: any of them may be the one that knows what a copy lacks. Returns the function that ends it. */
export function watchForRestore(database: Database, onTrouble: (error: Error) => void): () => void {
  let isComparing = false;
  const compare = async (): Promise<void> => {
    if (isComparing) return;
    isComparing = true;
    await noticeRestore(database, { isStart: false }).catch(onTrouble);
    isComparing = false;
  };
  const timer = setInterval(() => void compare(), comparedEvery);
  return () => clearInterval(timer);
}

/**
 * Compares the database with what this controller has noted about it, and marks every manifest if it is a copy: their runs end, and their
 * next plan with changes waits for a person. Resolves with the time of the copy. A changed timeline means a copy or a failover. At a start it
 * counts as a copy, unless a worker wrote in the last minutes; later it counts as a failover, unless an event is gone that this process had seen.
 * `folder` is that of an embedded database.
 */
export async function noticeRestore(
  database: Database,
  { isStart, folder }: { readonly isStart: boolean; readonly folder?: string },
): Promise<Date | undefined> {
  const parts = await partsOf(database, folder);
  const found = await database.transaction().execute(async (tx) => {
    // Another process may be marking the manifests of a large fleet.
    await waitWithoutLimit(tx);
    await sql`SELECT pg_advisory_xact_lock(hashtext('graphform origin'))`.execute(tx);
    const noted = await notedParts(tx);
    const changed = parts.filter(({ part, value }) => noted.get(part) !== value);
    await note(tx, changed);
    const different = changed.map(({ part }) => part).filter((part) => noted.has(part));
    const isMoved = different.includes("timeline");
    const isFailover =
      isMoved &&
      different.every((part) => part === "timeline" || part === "backup") &&
      (!isStart || (await hasLivingWorker(tx)));
    if (isMoved) await note(tx, [{ part: "failover", value: (await databaseTime(tx)).toISOString() }]);
    // The process that marked them since has done it for this one too.
    const isMarked = (noted.get("marked") ?? "") > (marksSeen.get(database) ?? "");
    const isCopy = (!isMarked && (await lacksSeen(tx, database))) || (different.length > 0 && !isFailover);
    const to = isCopy ? await markRestored(tx, "controller") : undefined;
    const marked = (await notedParts(tx)).get("marked");
    return { to, newest: await newestEvent(tx), marked, isOther: isMarked || isCopy };
  });
  remember(database, found.newest, found.isOther);
  marksSeen.set(database, found.marked);
  return found.to;
}

/** The time of the newest marking, when this process compared last. */
const marksSeen = new WeakMap<Database, string | undefined>();

async function notedParts(at: Tx | Database): Promise<ReadonlyMap<string, string>> {
  const rows = await at.selectFrom("origins").selectAll().execute();
  return new Map(rows.map(({ part, value }) => [part, value]));
}

async function note(tx: Tx, parts: readonly Part[]): Promise<void> {
  if (parts.length === 0) return;
  const rows = tx.insertInto("origins").values(parts);
  await rows
    .onConflict((conflict) =>
      conflict.column("part").doUpdateSet(({ ref }) => ({ value: ref("excluded.value") })),
    )
    .execute();
}

/** When a failover was noticed last. */
export async function lastFailover(database: Database): Promise<Date | undefined> {
  const time = (await notedParts(database)).get("failover");
  return time === undefined ? undefined : new Date(time);
}

/**
 * True if a run may begin to change something: there was no failover, or each process that lives has compared since, and has marked the
 * manifests if it knows more than this server.
 */
export async function isSettled(tx: Tx): Promise<boolean> {
  const noted = await notedParts(tx);
  const failover = noted.get("failover");
  const now = await databaseTime(tx);
  if (failover !== undefined && now.getTime() - Date.parse(failover) < settling) return false;
  const timeline = noted.get("timeline");
  if (timeline === undefined || !(await mayCall(tx, timelineParts[0]))) return true;
  await sql`SAVEPOINT timeline`.execute(tx);
  try {
    return (await timelineParts[1].execute(tx)).rows[0]?.value === timeline;
  } catch {
    // Some hosted services have the function and refuse it: they do not tell a failover in this way.
    await sql`ROLLBACK TO SAVEPOINT timeline`.execute(tx);
    return true;
  }
}

/** True if a worker wrote here in the last two minutes, after this server was started: a copy has only older rows. */
async function hasLivingWorker(tx: Tx): Promise<boolean> {
  const since = sql<Date>`greatest(pg_postmaster_start_time(), now() - interval '2 minutes')`;
  const found = tx.selectFrom("workers").select("id").where("seen_at", ">", since).limit(1);
  return (await found.executeTakeFirst()) !== undefined;
}

interface Part {
  readonly part: OriginPart;
  readonly value: string;
}

/** Queries of parts, each with the functions that it calls: not every role may call them, and not every hosted service has them. */
type Askable = readonly [functions: readonly string[], query: RawBuilder<Part>];

/** The control file has the timeline of the last checkpoint, which may be some minutes old. */
const timelineParts: Askable = [
  ["pg_current_wal_lsn()", "pg_walfile_name(pg_lsn)"],
  sql<Part>`SELECT 'timeline' AS part, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer::text AS value`,
];
const askable: readonly Askable[] = [
  timelineParts,
  [
    ["pg_control_system()"],
    sql<Part>`SELECT 'cluster' AS part, system_identifier::text AS value FROM pg_control_system()`,
  ],
  [
    ["pg_stat_file(text, boolean)"],
    // PostgreSQL leaves this file in the data folder if it was started from a base backup.
    sql<Part>`SELECT 'backup' AS part, coalesce(modification::text, 'none') AS value FROM pg_stat_file('backup_label.old', true)`,
  ],
];

/** A function that is called without the right stands in the server's log, each time. */
async function mayCall(at: Tx | Database, functions: readonly string[]): Promise<boolean> {
  const { rows } = await sql<{
    all: boolean;
  }>`SELECT bool_and(has_function_privilege(name, 'EXECUTE')) AS all FROM unnest(${functions}::text[]) AS name`.execute(
    at,
  );
  return rows[0]?.all === true;
}

/** Reads the parts that tell a database from a copy of it, as far as they can be read. */
async function partsOf(database: Database, folder: string | undefined): Promise<readonly Part[]> {
  const tables = sql<Part>`SELECT 'tables' AS part, oid || ' ' || 'graphform.manifests'::regclass::oid AS value
    FROM pg_database WHERE datname = current_database()`;
  const { rows } = await tables.execute(database);
  const parts = [...rows];
  for (const [functions, query] of askable) {
    const { rows: found } = await mayCall(database, functions)
      .then((may) => (may ? query.execute(database) : { rows: [] }))
      .catch(() => ({ rows: [] }));
    parts.push(...found);
  }
  return [...parts, ...(folder === undefined ? [] : await fileParts(folder))];
}

/** PostgreSQL writes this file in place for as long as its folder lives: a copy of it is another file, which may get the number of the old one. */
async function fileParts(folder: string): Promise<readonly Part[]> {
  const { ino, birthtimeMs, ctimeMs } = await stat(join(folder, "data", "global", "pg_control"));
  // A system that does not know when a file was made gives the time of its last change.
  const born = birthtimeMs === ctimeMs ? 0 : birthtimeMs;
  return [
    { part: "folder", value: `${ino}` },
    { part: "born", value: `${born}` },
  ];
}

/** Marks every manifest; resolves with the newest moment that the database knows. */
export async function markRestored(tx: Tx, actor: string): Promise<Date> {
  const { rows } = await sql<{
    to: Date;
  }>`SELECT coalesce(greatest((SELECT max(updated_at) FROM graphform.runs),
    (SELECT max(seen_at) FROM graphform.workers), (SELECT max(at) FROM graphform.audit)), clock_timestamp()) AS to`.execute(
    tx,
  );
  const now = await databaseTime(tx);
  const to = rows[0]?.to ?? now;
  const why = restoredWords(to);
  const manifests = tx.selectFrom("manifests").select("id").where("removed_at", "is", null).orderBy("id");
  for (const { id } of await manifests.execute()) {
    const manifest = await lockManifest(tx, id);
    const open = await openRuns(tx, id);
    for (const { id: run, status } of open) {
      const isMaking = making.includes(status);
      const way = { from: status, to: isMaking ? "stale" : "superseded", why } as const;
      if (isWay(way)) await moveRun(tx, run, way, {}, isMaking ? outcome(6, [why]) : {});
    }
    const dirty = manifest?.dirty === true || open.some(({ kind }) => kind === "reconcile");
    await setManifest(tx, id, { restored_to: to, next_due_at: now, dirty });
  }
  // Another process that misses the same events need not do it again.
  await note(tx, [{ part: "marked", value: now.toISOString() }]);
  await addAudit(tx, { tenant: null, actor, action: "restored", subject: to.toISOString() });
  return to;
}

/** Takes the marks away: nothing was done after the copy was taken. */
export async function takeForComplete(tx: Tx, actor: string): Promise<void> {
  await tx.updateTable("manifests").set({ restored_to: null }).where("restored_to", "is not", null).execute();
  await addAudit(tx, { tenant: null, actor, action: "restored completely", subject: "database" });
}
