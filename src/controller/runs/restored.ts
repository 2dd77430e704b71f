/** @module Detects that the database was restored from a copy: changes made after the copy exist at the service and are not known here. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { addAudit } from "../database/audit.ts";
import { type Database, type Tx, waitWithoutLimit } from "../database/connect.ts";
import type { OriginPart } from "../database/schema.ts";
import { lockManifest, moveRun, openRuns, outcome, setManifest } from "./run-moves.ts";
import { isWay, making } from "./transitions.ts";

/** The sentence for a person who looks at a plan that was made from a copy. */
export function restoredWords(to: Date): string {
  return `the database was put back from a copy of ${to.toISOString()}: what was made or changed since is not known here; see first that nothing of this plan exists already`;
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
  const hasLost = await lacksEvents(database);
  return database.transaction().execute(async (tx) => {
    // Another process may be marking the manifests of a large fleet.
    await waitWithoutLimit(tx);
    await sql`SELECT pg_advisory_xact_lock(hashtext('graphform origin'))`.execute(tx);
    const noted = new Map(
      (await tx.selectFrom("origins").selectAll().execute()).map((row) => [row.part, row]),
    );
    const changed = parts.filter(({ part, value }) => noted.get(part)?.value !== value);
    if (changed.length > 0)
      await tx
        .insertInto("origins")
        .values(changed)
        .onConflict((conflict) =>
          conflict.column("part").doUpdateSet(({ ref }) => ({ value: ref("excluded.value") })),
        )
        .execute();
    const different = changed.map(({ part }) => part).filter((part) => noted.has(part));
    const isFailover =
      different.includes("timeline") &&
      different.every((part) => part === "timeline" || part === "backup") &&
      (!isStart || (await hasLivingWorker(tx)));
    const isCopy = hasLost || (different.length > 0 && !isFailover);
    return isCopy ? markRestored(tx, "controller") : undefined;
  });
}

/** True if a worker wrote here in the last two minutes, after this server was started: a copy has only older rows. */
async function hasLivingWorker(tx: Tx): Promise<boolean> {
  const since = sql<Date>`greatest(pg_postmaster_start_time(), now() - interval '2 minutes')`;
  const found = tx.selectFrom("workers").select("id").where("seen_at", ">", since).limit(1);
  return (await found.executeTakeFirst()) !== undefined;
}

const newestSeen = new WeakMap<Database, number>();

/** True if the newest event that this process has seen is gone: a copy took the place of the database meanwhile, or a standby that was behind. */
async function lacksEvents(database: Database): Promise<boolean> {
  const { rows } = await sql<{
    id: number;
  }>`SELECT coalesce(max(id), 0) AS id FROM graphform.run_events`.execute(database);
  const newest = rows[0]?.id ?? 0;
  const seen = newestSeen.get(database) ?? 0;
  newestSeen.set(database, newest);
  return newest < seen;
}

interface Part {
  readonly part: OriginPart;
  readonly value: string;
}

/** Queries of parts, each with the functions that it calls: not every role may call them, and not every hosted service has them. */
const askable = [
  [
    ["pg_control_system()", "pg_control_checkpoint()"],
    sql<Part>`SELECT 'cluster' AS part, system_identifier::text AS value FROM pg_control_system()
      UNION ALL SELECT 'timeline', timeline_id::text FROM pg_control_checkpoint()`,
  ],
  [
    ["pg_stat_file(text, boolean)"],
    // PostgreSQL leaves this file in the data folder if it was started from a base backup.
    sql<Part>`SELECT 'backup' AS part, coalesce(modification::text, 'none') AS value FROM pg_stat_file('backup_label.old', true)`,
  ],
] as const;

/** Reads the parts that tell a database from a copy of it, as far as they can be read. */
async function partsOf(database: Database, folder: string | undefined): Promise<readonly Part[]> {
  const tables = sql<Part>`SELECT 'tables' AS part, oid || ' ' || 'graphform.manifests'::regclass::oid AS value
    FROM pg_database WHERE datname = current_database()`;
  const { rows } = await tables.execute(database);
  const parts = [...rows];
  for (const [functions, query] of askable) {
    // A function that is called without the right stands in the server's log, each minute.
    const may = sql<{
      all: boolean;
    }>`SELECT bool_and(has_function_privilege(name, 'EXECUTE')) AS all FROM unnest(${functions}::text[]) AS name`;
    const { rows: found } = await may
      .execute(database)
      .then(({ rows: [right] }) => (right?.all === true ? query.execute(database) : { rows: [] }))
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
  const to = rows[0]?.to ?? new Date();
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
    await setManifest(tx, id, { restored_to: to, next_due_at: new Date(), dirty });
  }
  await addAudit(tx, { tenant: null, actor, action: "restored", subject: to.toISOString() });
  return to;
}

/** Takes the marks away: nothing was done after the copy was taken. */
export async function takeForComplete(tx: Tx, actor: string): Promise<void> {
  await tx.updateTable("manifests").set({ restored_to: null }).where("restored_to", "is not", null).execute();
  await addAudit(tx, { tenant: null, actor, action: "restored completely", subject: "database" });
}
