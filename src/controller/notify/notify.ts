/** @module Tells receivers of webhooks what lasts: once when it begins, once a day while it does, once when it is over. */
import { createHash } from "node:crypto";
import type { LiveConfig } from "../config/config.ts";
import type { Database } from "../database/connect.ts";
import type { ManifestRow, RunRow, Topic } from "../database/schema.ts";
import { deliver } from "./deliver.ts";

/** A state of affairs that is told about. With another `about` it is a new one. */
interface Condition {
  readonly since: Date;
  readonly about: string;
  readonly data: object;
}

/** Ms after which a receiver is told that something still lasts. */
const stillAfter = 86_400_000;

/**
 * Tells the receivers of a manifest's tenant what is new. It is called after each run, and may be called at any time: what was said is not
 * said again. Rejects if a receiver did not take its message, after the others were told: the next call repeats that message, with its id.
 */
export async function notifyManifest(
  {
    database,
    config,
    now = Date.now,
  }: { readonly database: Database; readonly config: LiveConfig; readonly now?: () => number },
  id: string,
): Promise<void> {
  const manifest = await database.selectFrom("manifests").selectAll().where("id", "=", id).executeTakeFirst();
  if (manifest === undefined) return;
  const receivers = Object.entries(config.current().webhooks).filter(
    ([, { tenants }]) => tenants === undefined || tenants.includes(manifest.tenant),
  );
  if (receivers.length === 0) return;
  const conditions = await conditionsOf(database, manifest);
  const said = await database.selectFrom("webhooks").selectAll().where("manifest_id", "=", id).execute();
  const failures: unknown[] = [];
  for (const [receiver, { url, secret }] of receivers)
    for (const [topic, condition] of conditions) {
      const before = said.find((row) => row.topic === topic && row.receiver === receiver);
      const stage = condition === "unsettled" ? undefined : stageOf(condition, before, now());
      if (condition === "unsettled" || stage === undefined) continue;
      const { since, about, data } = condition ?? { since: before?.since, about: "", data: {} };
      const type = `${topic}.${stage}`;
      const name = JSON.stringify([id, receiver, type, about, before?.said_at ?? since]);
      const message = {
        id: `msg_${createHash("sha256").update(name).digest("base64url").slice(0, 27)}`,
        type,
        timestamp: new Date(now()),
        data: { tenant: manifest.tenant, manifest: manifest.name, since, ...data },
      };
      const row = { manifest_id: id, receiver, topic };
      await deliver({ name: receiver, url, secret }, message)
        .then(() => remember(database, row, condition, message.timestamp))
        .catch((error: unknown) => failures.push(error));
    }
  if (failures.length > 0) throw failures[0];
}

/** The stage to be told about a condition, after what was said before; undefined if there is nothing to say. */
export function stageOf(
  condition: { readonly about: string } | undefined,
  before: { readonly about: string; readonly said_at: Date } | undefined,
  now: number,
): "first" | "still" | "resolved" | undefined {
  if (condition === undefined) return before === undefined ? undefined : "resolved";
  if (before?.about !== condition.about) return "first";
  return now - before.said_at.getTime() >= stillAfter ? "still" : undefined;
}

/** The conditions of a manifest by topic. Unsettled: a run is at work that may end it, or be it again. */
async function conditionsOf(
  database: Database,
  manifest: ManifestRow,
): Promise<readonly (readonly [Topic, Condition | undefined | "unsettled"])[]> {
  if (manifest.removed_at !== null)
    return (["drift", "approval", "failure"] as const).map((topic) => [topic, undefined]);
  const runs = database
    .selectFrom("runs")
    .select(["id", "status", "fingerprint", "verdict", "counts", "reasons", "created_at", "ended_at"])
    .where("manifest_id", "=", manifest.id)
    .orderBy("created_at", "desc");
  const open = await runs.where("ended_at", "is", null).execute();
  const last = await runs
    .where("ended_at", "is not", null)
    .where("status", "not in", ["superseded", "canceled", "discarded"])
    .limit(1)
    .executeTakeFirst();
  const waiting = open.find(({ status }) => status === "needs_approval");
  const otherwise = open.length > 0 && waiting === undefined ? "unsettled" : undefined;
  const { drifted_at: drifted, trouble } = manifest;
  const drift = drifted === null ? undefined : { since: drifted, about: "drift", data: {} };
  const approval =
    waiting === undefined
      ? otherwise
      : { since: waiting.created_at, about: waiting.fingerprint ?? waiting.id, data: shown(waiting) };
  const failure =
    trouble === null
      ? last !== undefined && ["errored", "stale", "blocked"].includes(last.status)
        ? { since: last.ended_at ?? last.created_at, about: last.status, data: shown(last) }
        : otherwise
      : { since: manifest.checked_at ?? manifest.created_at, about: "source", data: { reasons: [trouble] } };
  return [
    ["drift", drift],
    ["approval", approval],
    ["failure", failure],
  ];
}

function shown(
  row: Pick<RunRow, "id" | "status" | "fingerprint" | "verdict" | "counts" | "reasons">,
): object {
  const { id, status, fingerprint, verdict, counts, reasons } = row;
  return { run: id, status, fingerprint, verdict, counts, reasons };
}

async function remember(
  database: Database,
  row: { readonly manifest_id: string; readonly receiver: string; readonly topic: Topic },
  condition: Condition | undefined,
  at: Date,
): Promise<void> {
  if (condition === undefined) {
    const rows = database.deleteFrom("webhooks");
    await rows.where((where) => where.and(row)).execute();
    return;
  }
  const said = { about: condition.about, since: condition.since, said_at: at };
  await database
    .insertInto("webhooks")
    .values({ ...row, ...said })
    .onConflict((conflict) => conflict.columns(["manifest_id", "receiver", "topic"]).doUpdateSet(said))
    .execute();
}
