/** @module Remembers the newest event that this process has committed or read: a database that lacks it is a copy, or a standby that was behind. */
import { type Insertable, sql } from "kysely";
import { GraphformError } from "../../index.ts";
import { type Database, databaseBehind, type Tx } from "../database/connect.ts";
import type { Schema } from "../database/schema.ts";

export interface SeenEvent {
  readonly id: number;
  /** Tells it from another event: after a copy, an id comes a second time. */
  readonly mark: string;
  readonly at: Date;
}

const markOf = sql<string>`run_id || ' ' || extract(epoch FROM at)`;
const columns = ["id", markOf.as("mark"), "at"] as const;

const seen = new WeakMap<Database, SeenEvent>();

/** A transaction in which events are added, with the newest of them. */
interface Open {
  readonly database: Database;
  newest: SeenEvent | undefined;
}

const open = new WeakMap<Tx, Open>();

/** Does something in a transaction; events that it adds count as seen once they are committed. Rejects with `database-behind` if one that was seen is gone. */
export async function transact<T>(database: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  const own: Open = { database, newest: undefined };
  const result = await database.transaction().execute(async (tx) => {
    open.set(tx, own);
    return work(tx);
  });
  if (own.newest !== undefined) remember(database, own.newest);
  return result;
}

/** Adds events, unless one that this process has seen is gone: what follows from it must not be written before the manifests are marked. */
export async function insertSeen(tx: Tx, rows: readonly Insertable<Schema["run_events"]>[]): Promise<void> {
  const own = open.get(tx);
  if (own !== undefined && (await lacksSeen(tx, own.database))) {
    const message =
      "the database lacks events that this process has seen: its manifests are about to be marked";
    throw new GraphformError(databaseBehind, message);
  }
  const added = await tx.insertInto("run_events").values(rows).returning(columns).execute();
  if (own !== undefined) own.newest = added.at(-1) ?? own.newest;
}

/** True if the newest event that this process has seen is gone. An old one may have been forgotten, after newer ones came. */
export async function lacksSeen(tx: Tx, database: Database): Promise<boolean> {
  const event = seen.get(database);
  if (event === undefined) return false;
  const { id, mark, at } = event;
  const { rows } = await sql<{ lacks: boolean }>`SELECT
    NOT EXISTS (SELECT FROM graphform.run_events WHERE id = ${id} AND ${markOf} = ${mark})
    AND NOT (${at}::timestamptz < now() - interval '12 hours' AND EXISTS (SELECT FROM graphform.run_events WHERE id > ${id})) AS lacks`.execute(
    tx,
  );
  return rows[0]?.lacks === true;
}

export async function newestEvent(tx: Tx): Promise<SeenEvent | undefined> {
  return tx.selectFrom("run_events").select(columns).orderBy("id", "desc").limit(1).executeTakeFirst();
}

/** Remembers an event if it is newer than what was seen; `isOther`: in place of what was seen in a database that is gone. */
export function remember(database: Database, event: SeenEvent | undefined, isOther = false): void {
  if (isOther) seen.delete(database);
  if (event !== undefined && event.id > (seen.get(database)?.id ?? 0)) seen.set(database, event);
}
