/** @module Carries out what people decide about manifests: each decision is one transaction, with its entry in the audit log. */
import { addAudit } from "../database/audit.ts";
import type { Tx } from "../database/connect.ts";
import type { ManifestRow, NewManifest, Source, Upload } from "../database/schema.ts";
import { digestOf } from "../digest.ts";
import { uploadDigest } from "../sources/source.ts";
import { type Deciding, type DecidingWorld, endWaiting, type Refused, refused } from "./decide.ts";
import { type Asking, askForRun, dropUploads, lockManifest, setCommit, setManifest } from "./moves.ts";

export interface ManifestDecision {
  readonly manifest: string;
  readonly actor: string;
}

/** Asks for a run now; resolves with the id of the run that does it. */
export async function requestRun(
  world: DecidingWorld,
  manifest: string,
  asking: Asking,
): Promise<{ readonly run: string } | Refused> {
  const { actor, trigger } = asking;
  return aboutManifest(world, { manifest, actor }, async ({ tx, queue, manifest: row, audit }) => {
    const run = await askForRun(tx, queue, row, asking);
    await audit("reconcile", { run, trigger });
    return { run };
  });
}

/** Stops the checks of a manifest until a time; null ends the pause. Runs that were begun go on. */
export async function pauseManifest(
  world: DecidingWorld,
  { until, ...decision }: ManifestDecision & { readonly until: string | null },
): Promise<"paused" | Refused> {
  return aboutManifest(world, decision, async ({ tx, manifest, audit }) => {
    await setManifest(tx, manifest.id, { paused_until: until === null ? null : new Date(until) });
    await audit("pause", { until });
    return "paused";
  });
}

/** Adds a manifest and asks for its first run; refused as `changed` if the tenant has one of that name. */
export async function addManifest(
  { database, queue }: DecidingWorld,
  {
    source,
    files,
    actor,
    ...columns
  }: Pick<NewManifest, "tenant" | "name" | "auto" | "interval_seconds"> & {
    readonly source: Source;
    /** Those of an upload. */
    readonly files?: Upload | undefined;
    readonly actor: string;
  },
): Promise<{ readonly manifest: string; readonly run: string } | Refused> {
  return database.transaction().execute(async (tx) => {
    const { tenant, name, interval_seconds } = columns;
    await tx
      .insertInto("tenants")
      .values({ name: tenant })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    // Somewhere in its interval, always at the same point for the same name.
    const phase = digestOf(name).readUInt32BE() / 2 ** 32;
    const row = await tx
      .insertInto("manifests")
      .values({
        ...columns,
        source: JSON.stringify(source),
        commit: files === undefined ? null : uploadDigest(files),
        next_due_at: new Date(Date.now() + phase * interval_seconds * 1000),
      })
      .onConflict((conflict) =>
        conflict.columns(["tenant", "name"]).where("removed_at", "is", null).doNothing(),
      )
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) return refused("changed", `the tenant ${tenant} has a manifest ${name} already`);
    if (files !== undefined) await keepUpload(tx, row, files);
    const run = await askForRun(tx, queue, row, { kind: "reconcile", trigger: "request", actor });
    await addAudit(tx, { tenant, actor, action: "add manifest", subject: name, details: { source } });
    return { manifest: row.id, run };
  });
}

/** Changes how a manifest is checked. */
export async function changeManifest(
  world: DecidingWorld,
  {
    manifest: id,
    actor,
    ...columns
  }: ManifestDecision & Partial<Pick<ManifestRow, "auto" | "interval_seconds">>,
): Promise<"changed" | Refused> {
  return aboutManifest(world, { manifest: id, actor }, async ({ tx, audit }) => {
    await setManifest(tx, id, columns);
    await audit("change manifest", columns);
    return "changed";
  });
}

/** Takes a manifest out of the fleet. Its databases and its state stay; a run that is at work ends at its next step. */
export async function removeManifest(
  world: DecidingWorld,
  decision: ManifestDecision,
): Promise<"removed" | Refused> {
  return aboutManifest(world, decision, async ({ tx, manifest: { id }, actor, audit }) => {
    const now = new Date();
    await setManifest(tx, id, { removed_at: now, dirty: false });
    const open = await tx
      .selectFrom("runs")
      .select(["id", "status"])
      .where("manifest_id", "=", id)
      .where("ended_at", "is", null)
      .execute();
    for (const run of open)
      if (!(await endWaiting(tx, run, `${actor} has removed the manifest`)))
        await tx.updateTable("runs").set({ cancel_requested_at: now }).where("id", "=", run.id).execute();
    await audit("remove manifest");
    return "removed";
  });
}

/** Takes new files of a manifest by upload; files that are the same ask for nothing. */
export async function uploadFiles(
  world: DecidingWorld,
  { files, ...decision }: ManifestDecision & { readonly files: Upload },
): Promise<{ readonly run: string | null } | Refused> {
  return aboutManifest(world, decision, async ({ tx, queue, manifest, actor, audit }) => {
    if (manifest.source.type !== "upload") return refused("changed", "this manifest comes from Git");
    const digest = uploadDigest(files);
    if (manifest.commit === digest) return { run: null };
    const changed = await setCommit(tx, manifest, digest);
    await keepUpload(tx, changed, files);
    await dropUploads(tx, manifest.id);
    const run = await askForRun(tx, queue, changed, { kind: "reconcile", trigger: "upload", actor });
    await audit("upload", { digest, run });
    return { run };
  });
}

/** Keeps the files of a manifest's newest commit; the approved ones may be the same. */
async function keepUpload(tx: Tx, { id, commit }: ManifestRow, files: Upload): Promise<void> {
  await tx
    .insertInto("uploads")
    .values({ manifest_id: id, digest: commit ?? "", files: JSON.stringify(files) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function aboutManifest<T extends string | object>(
  { database, queue }: DecidingWorld,
  { manifest: id, actor }: { readonly manifest: string; readonly actor: string },
  decide: (deciding: Deciding) => Promise<T | Refused>,
): Promise<T | Refused> {
  return database.transaction().execute(async (tx) => {
    const manifest = await lockManifest(tx, id);
    if (manifest === undefined || manifest.removed_at !== null)
      return refused("not-found", "there is no such manifest");
    const act = { tenant: manifest.tenant, actor, subject: manifest.name };
    const audit = (action: string, details?: object): Promise<void> =>
      addAudit(tx, { ...act, action, ...(details && { details }) });
    return decide({ tx, queue, manifest, actor, audit });
  });
}
