/** @module Keeps the audit log: each row has a hash of itself and of the row before it, so that a change shows. */
import { type Selectable, sql } from "kysely";
import { digestOf } from "../digest.ts";
import { type Database, databaseTime, type Tx } from "./connect.ts";
import type { Schema } from "./schema.ts";

/** One act of a person or a token; the tenant is null if it concerns all. `details` holds no secret. */
export interface Act extends Pick<Selectable<Schema["audit"]>, "tenant" | "actor" | "action" | "subject"> {
  readonly details?: object;
}

const beginning = "0".repeat(64);

/** Adds an act to the log, as the last statement of its transaction: the rows are written one after the other. */
export async function addAudit(tx: Tx, act: Act): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtext('graphform audit'))`.execute(tx);
  const last = await tx.selectFrom("audit").select("hash").orderBy("id", "desc").limit(1).executeTakeFirst();
  const { tenant, actor, action, subject, details = {} } = act;
  const at = (await databaseTime(tx)).toISOString();
  const row = { at, tenant, actor, action, subject, details: canonical(details) };
  const previous = last?.hash ?? beginning;
  await tx
    .insertInto("audit")
    .values({ ...row, previous, hash: hashOf(previous, row) })
    .execute();
}

/** Goes through the log; resolves with the id of the first row that was altered, or follows one that is gone. */
export async function verifyAudit(database: Database): Promise<number | undefined> {
  let previous = beginning;
  let after = 0;
  for (;;) {
    const later = database.selectFrom("audit").selectAll().where("id", ">", after);
    const rows = await later.orderBy("id").limit(1000).execute();
    for (const row of rows) {
      const { id, at, tenant, actor, action, subject, details } = row;
      const same = { at: at.toISOString(), tenant, actor, action, subject, details: canonical(details) };
      if (row.previous !== previous || row.hash !== hashOf(previous, same)) return id;
      previous = row.hash;
      after = id;
    }
    if (rows.length < 1000) return undefined;
  }
}

function hashOf(previous: string, row: object): string {
  return digestOf(previous, JSON.stringify(row)).toString("hex");
}

/** JSON with its keys in order: the database does not keep their order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
