/** @module Asks for runs: one that waits is enough, and one that is at work is followed by another. */
import type { Tx } from "../database/connect.ts";
import type { ManifestRow, RunRow } from "../database/schema.ts";
import type { Queue } from "../queue/queue.ts";
import { moveRun } from "./moves.ts";

/** A wish for a run, with its reason. */
export interface Asking {
  readonly kind: RunRow["kind"];
  readonly trigger: RunRow["trigger"];
  readonly actor: string;
}

/** The wish of the controller itself, when a manifest has changed while a run of it was under way. */
export const newerManifest: Asking = { kind: "reconcile", trigger: "commit", actor: "controller" };

/**
 * Asks for a run of a manifest whose row is locked. Resolves with its id, or that of the run that will do what was asked: a check that is
 * due waits for no run that is at work, and what was asked for while one is at work begins in the transaction that ends it.
 */
export async function askForRun(
  tx: Tx,
  queue: Queue,
  manifest: ManifestRow,
  asking: Asking,
): Promise<string> {
  const open = await tx
    .selectFrom("runs")
    .select(["id", "kind", "status", "generation"])
    .where("manifest_id", "=", manifest.id)
    .where("ended_at", "is", null)
    .execute();
  const waiting = open.find(
    ({ status, kind }) => status === "pending" && (kind === asking.kind || asking.kind === "drift"),
  );
  if (waiting !== undefined) return waiting.id;
  const busy = open.find(({ status }) => status !== "pending" && status !== "needs_approval");
  if (busy !== undefined) {
    if (asking.kind === "reconcile")
      await tx.updateTable("manifests").set({ dirty: true }).where("id", "=", manifest.id).execute();
    return busy.id;
  }
  for (const { id, status, generation } of open)
    if (status === "needs_approval" && generation < manifest.generation)
      await moveRun(tx, id, { from: "needs_approval", to: "superseded", why: "the manifest has changed" });
  return beginRun(tx, queue, manifest, asking);
}

/** Begins a run and sends its job. */
async function beginRun(
  tx: Tx,
  queue: Queue,
  manifest: ManifestRow,
  { kind, trigger, actor }: Asking,
): Promise<string> {
  const { id: manifestId, tenant, commit, generation } = manifest;
  const { id } = await tx
    .insertInto("runs")
    .values({
      manifest_id: manifestId,
      tenant,
      kind,
      trigger,
      actor,
      status: "pending",
      commit,
      generation,
      reasons: "[]",
      updated_at: new Date(),
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  await tx
    .insertInto("run_events")
    .values({ run_id: id, event: JSON.stringify({ type: "status", to: "pending" }) })
    .execute();
  await queue.send(tx, kind === "drift" ? "drift" : "plan", id, { run: id });
  return id;
}

/** Begins the run that was asked for while another one was at work; part of the transaction that ends that one. */
export async function beginWhatWasAsked(tx: Tx, queue: Queue, manifest: ManifestRow): Promise<void> {
  if (!manifest.dirty || manifest.removed_at !== null) return;
  await tx.updateTable("manifests").set({ dirty: false }).where("id", "=", manifest.id).execute();
  await askForRun(tx, queue, manifest, newerManifest);
}
