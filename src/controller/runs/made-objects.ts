/** @module Keeps the ids of what a run has made and its state does not know: the database was put back under it, from a copy or by a failover. */
import { sql } from "kysely";
import { addAudit } from "../database/audit.ts";
import { type Database, databaseClock, type Tx } from "../database/connect.ts";
import type { ManifestRow } from "../database/schema.ts";
import { noticeRestore } from "./restored.ts";
import { lockManifest } from "./run-moves.ts";
import type { StateFacts } from "./thread-pool.ts";
import type { RunEvent } from "./transitions.ts";

/** The objects that a run has made, by address. One that is not done may have been made without being stored. */
export type Made = ReadonlyMap<string, { readonly id: string; readonly isDone: boolean }>;

type Named = Pick<ManifestRow, "tenant" | "name">;

type Objects = readonly (readonly [address: string, id: string])[];

const action = "unknown objects";

/** Adds the object that an event of an apply tells of. */
export function addMade(made: Map<string, { id: string; isDone: boolean }>, event: RunEvent): void {
  if (event.type !== "apply" || event.event.type !== "step-end") return;
  const { operation, address, id, result } = event.event.outcome;
  if (operation === "create" && id !== undefined) made.set(address, { id, isDone: result === "done" });
  else if (operation === "delete") made.delete(address);
}

/** True if the state lacks an object that the run has stored in it. */
export async function lacksMade(tx: Tx, manifest: ManifestRow, made: Made): Promise<boolean> {
  const done = [...made].flatMap(([address, { id, isDone }]) => (isDone ? [[address, id] as const] : []));
  return (await unknownOf(tx, manifest, done)).length > 0;
}

/** The objects that the state of a manifest does not bind. */
async function unknownOf(tx: Tx, { tenant, name }: Named, objects: Objects): Promise<Objects> {
  if (objects.length === 0) return [];
  const state = sql<{
    facts: string | null;
  }>`SELECT facts FROM graphform.states WHERE name = ${`${tenant}/${name}`}`;
  const [row] = (await state.execute(tx)).rows;
  // A document that PostgreSQL cannot read tells nothing.
  if (row?.facts === null) return [];
  const { ids = [] }: StateFacts = JSON.parse(row?.facts ?? "{}");
  return objects.filter(([, id]) => !ids.includes(id));
}

/** Notes in the audit log what a run has made that nothing knows any more, if its manifest is marked, or not there: a person must bind it. */
export async function noteMade(
  database: Database,
  { run, manifest }: { readonly run: { readonly id: string }; readonly manifest: ManifestRow },
  made: Made,
): Promise<void> {
  if (made.size === 0) return;
  await noticeRestore(database, { isStart: false });
  await database.transaction().execute(async (tx) => {
    const now = await lockManifest(tx, manifest.id);
    if (now !== undefined && now.restored_to === null) return;
    const all = [...made].map(([address, { id }]) => [address, id] as const);
    const unknown = await unknownOf(tx, manifest, all);
    const { tenant, name } = manifest;
    const details = { run: run.id, objects: Object.fromEntries(unknown) };
    if (unknown.length > 0)
      await addAudit(tx, { tenant, actor: "controller", action, subject: name, details });
  });
}

/** Marks the manifest whose state was written or removed from outside, and binds less than the document before: its objects would be made again. */
export async function noteUnbound(
  tx: Tx,
  { tenant, name, actor, before }: Named & { readonly actor: string; readonly before: string | undefined },
): Promise<void> {
  const { resources = {} }: BoundObjects = JSON.parse(before ?? "{}");
  const bound = Object.entries(resources).flatMap(([address, { id }]) =>
    typeof id === "string" ? [[address, id] as const] : [],
  );
  const unknown = await unknownOf(tx, { tenant, name }, bound);
  if (unknown.length === 0) return;
  const all = tx.updateTable("manifests").set({ restored_to: databaseClock });
  const kept = all.where("removed_at", "is", null).where((where) => where.and({ tenant, name }));
  const { numUpdatedRows } = await kept.executeTakeFirst();
  const details = { objects: Object.fromEntries(unknown) };
  if (numUpdatedRows > 0n) await addAudit(tx, { tenant, actor, action, subject: name, details });
}

interface BoundObjects {
  readonly resources?: { readonly [address: string]: { readonly id?: unknown } };
}

/** Sentences for a person who looks at a plan of a marked manifest: which objects exist that its state does not know. */
export async function unknownWords(tx: Tx, manifest: ManifestRow): Promise<readonly string[]> {
  const { tenant, name, restored_to: since } = manifest;
  if (since === null) return [];
  const acts = tx.selectFrom("audit").select("details").where("at", ">=", since);
  const rows = await acts.where((where) => where.and({ tenant, action, subject: name })).execute();
  const noted = rows.flatMap(({ details }) => Object.entries(Reflect.get(details, "objects") ?? {}));
  const objects = noted.map(([address, id]) => [address, String(id)] as const);
  const unknown = await unknownOf(tx, manifest, objects);
  return unknown.map(
    ([address, id]) => `${address}: ${id} was made for it, and is not known here: graphform import binds it`,
  );
}
