/** @module Carries out what people decide about manifests: each decision is one transaction, with its entry in the audit log. */
import { addAudit } from "../database/audit.ts";
import type { Database, Tx } from "../database/connect.ts";
import type { ManifestRow, NewManifest, Upload } from "../database/schema.ts";
import { type Asking, askForRun } from "./ask-for-run.ts";
import type { DecidingWorld, Refused } from "./decide.ts";
import { lockManifest, moveRun } from "./moves.ts";

/** Asks for a run now; resolves with the id of the run that does it. */
export async function requestRun(
  { database, queue }: DecidingWorld,
  manifest: string,
  asking: Asking,
): Promise<{ readonly run: string } | Refused> {
  return withManifest(database, manifest, async (tx, row) => {
    const run = await askForRun(tx, queue, row, asking);
    const { tenant, name } = row;
    await addAudit(tx, {
      tenant,
      actor: asking.actor,
      action: "reconcile",
      subject: name,
      details: { run, trigger: asking.trigger },
    });
    return { run };
  });
}

/** Stops the checks of a manifest until a time; null ends the pause. Runs that were begun go on. */
export async function pauseManifest(
  { database }: DecidingWorld,
  manifest: string,
  { until, actor }: { readonly until: Date | null; readonly actor: string },
): Promise<"paused" | Refused> {
  return withManifest(database, manifest, async (tx, { tenant, name, id }) => {
    await tx.updateTable("manifests").set({ paused_until: until }).where("id", "=", id).execute();
    await addAudit(tx, {
      tenant,
      actor,
      action: "pause",
      subject: name,
      details: { until: until?.toISOString() ?? null },
    });
    return "paused" as const;
  });
}

/** Adds a manifest and asks for its first run; refused as `changed` if the tenant has one of that name. */
export async function addManifest(
  { database, queue }: DecidingWorld,
  manifest: Pick<
    NewManifest,
    "tenant" | "name" | "source" | "upload" | "auto" | "interval_seconds" | "commit"
  >,
  actor: string,
): Promise<{ readonly manifest: string; readonly run: string } | Refused> {
  return database.transaction().execute(async (tx) => {
    const { tenant, name, interval_seconds } = manifest;
    await tx
      .insertInto("tenants")
      .values({ name: tenant })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const row = await tx
      .insertInto("manifests")
      .values({ ...manifest, next_due_at: firstCheck(name, interval_seconds) })
      .onConflict((conflict) =>
        conflict.columns(["tenant", "name"]).where("removed_at", "is", null).doNothing(),
      )
      .returningAll()
      .executeTakeFirst();
    if (row === undefined)
      return { refused: "changed", message: `the tenant ${tenant} has a manifest ${name} already` } as const;
    const run = await askForRun(tx, queue, row, { kind: "reconcile", trigger: "request", actor });
    await addAudit(tx, {
      tenant,
      actor,
      action: "add manifest",
      subject: name,
      details: { source: JSON.parse(String(manifest.source)) },
    });
    return { manifest: row.id, run };
  });
}

/** Changes how a manifest is checked. */
export async function changeManifest(
  { database }: DecidingWorld,
  manifest: string,
  {
    actor,
    ...columns
  }: { readonly actor: string; readonly auto?: "safe" | "none"; readonly interval_seconds?: number },
): Promise<"changed" | Refused> {
  return withManifest(database, manifest, async (tx, { id, tenant, name }) => {
    if (Object.keys(columns).length > 0)
      await tx.updateTable("manifests").set(columns).where("id", "=", id).execute();
    await addAudit(tx, { tenant, actor, action: "change manifest", subject: name, details: columns });
    return "changed" as const;
  });
}

/** Takes a manifest out of the fleet. Its databases and its state stay; a run that is at work ends at its next step. */
export async function removeManifest(
  { database }: DecidingWorld,
  manifest: string,
  actor: string,
): Promise<"removed" | Refused> {
  return withManifest(database, manifest, async (tx, { id, tenant, name }) => {
    const now = new Date();
    await tx.updateTable("manifests").set({ removed_at: now, dirty: false }).where("id", "=", id).execute();
    const open = await tx
      .selectFrom("runs")
      .select(["id", "status"])
      .where("manifest_id", "=", id)
      .where("ended_at", "is", null)
      .execute();
    const why = `${actor} has removed the manifest`;
    for (const { id: run, status } of open) {
      if (status === "pending" || status === "approved")
        await moveRun(tx, run, { from: status, to: "canceled", why });
      else if (status === "needs_approval") await moveRun(tx, run, { from: status, to: "discarded", why });
      else await tx.updateTable("runs").set({ cancel_requested_at: now }).where("id", "=", run).execute();
    }
    await addAudit(tx, { tenant, actor, action: "remove manifest", subject: name });
    return "removed" as const;
  });
}

/** Takes new files of a manifest by upload; files that are the same ask for nothing. */
export async function uploadFiles(
  { database, queue }: DecidingWorld,
  manifest: string,
  { files, digest, actor }: { readonly files: Upload; readonly digest: string; readonly actor: string },
): Promise<{ readonly run: string | undefined } | Refused> {
  return withManifest(database, manifest, async (tx, row) => {
    if (row.source.type !== "upload")
      return { refused: "changed", message: "this manifest comes from Git" } as const;
    if (row.commit === digest) return { run: undefined };
    const changed = await setCommit(tx, row, digest, JSON.stringify(files));
    const run = await askForRun(tx, queue, changed, { kind: "reconcile", trigger: "upload", actor });
    await addAudit(tx, {
      tenant: row.tenant,
      actor,
      action: "upload",
      subject: row.name,
      details: { digest, run },
    });
    return { run };
  });
}

/** Notes a newer commit of a locked manifest: the generation rises, so that plans of older ones are superseded. */
export async function setCommit(
  tx: Tx,
  manifest: ManifestRow,
  commit: string,
  upload?: string,
): Promise<ManifestRow> {
  return tx
    .updateTable("manifests")
    .set({ commit, generation: manifest.generation + 1, ...(upload === undefined ? {} : { upload }) })
    .where("id", "=", manifest.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The first check of a manifest: somewhere in its interval, always at the same point for the same name. */
function firstCheck(name: string, intervalSeconds: number, now: number = Date.now()): Date {
  let mixed = 2166136261;
  for (const character of name) mixed = Math.imul(mixed ^ (character.codePointAt(0) ?? 0), 16777619) >>> 0;
  return new Date(now + (mixed / 2 ** 32) * intervalSeconds * 1000);
}

async function withManifest<T>(
  database: Database,
  manifest: string,
  work: (tx: Tx, manifest: ManifestRow) => Promise<T | Refused>,
): Promise<T | Refused> {
  return database.transaction().execute(async (tx) => {
    const row = await lockManifest(tx, manifest);
    if (row === undefined || row.removed_at !== null)
      return { refused: "unknown", message: "there is no such manifest" };
    return work(tx, row);
  });
}
