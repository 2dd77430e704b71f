/** @module Tells receivers of webhooks what lasts: once when it begins, once a day while it does, once when it is over. */
import { createHash } from "node:crypto";
import type { LiveConfig } from "../config/config.ts";
import type { Database } from "../database/connect.ts";
import type { ManifestRow, Topic } from "../database/schema.ts";
import { deliver, type Message } from "./deliver.ts";

/** What notifications need. */
export interface NotifyWorld {
  readonly database: Database;
  readonly config: LiveConfig;
  readonly now?: () => number;
}

/** A state of affairs that is told about. */
interface Condition {
  readonly since: Date;
  /** Names it: with another name it is a new one. */
  readonly about: string;
  readonly data: object;
}

/** Ms after which a receiver is told that something still lasts. */
const stillAfter = 86_400_000;

/**
 * Tells the receivers of a manifest's tenant what is new. It is called after each run, and may be called at any time: what was said is not
 * said again. Rejects if a receiver did not take its message, after the others were told: the same call then repeats that message alone.
 */
export async function notifyManifest(
  { database, config, now = Date.now }: NotifyWorld,
  id: string,
): Promise<void> {
  const manifest = await database.selectFrom("manifests").selectAll().where("id", "=", id).executeTakeFirst();
  if (manifest === undefined) return;
  const { webhooks } = config.current();
  const receivers = Object.entries(webhooks).filter(
    ([, { tenants }]) => tenants === undefined || tenants.includes(manifest.tenant),
  );
  if (receivers.length === 0) return;
  const conditions = await conditionsOf(database, manifest);
  const said = await database.selectFrom("webhooks").selectAll().where("manifest_id", "=", id).execute();
  let failure: unknown;
  for (const [receiver, { url, secret }] of receivers)
    for (const [topic, condition] of conditions) {
      if (condition === "unsettled") continue;
      const before = said.find((row) => row.topic === topic && row.receiver === receiver);
      const stage = stageOf(condition, before, now());
      if (stage === undefined) continue;
      const { since, data } = condition ?? { since: before?.since, data: {} };
      const type = `${topic}.${stage}`;
      const message: Message = {
        id: idOf([
          id,
          receiver,
          type,
          condition?.about ?? "",
          (before?.said_at ?? since)?.toISOString() ?? "",
        ]),
        type,
        timestamp: new Date(now()),
        data: { tenant: manifest.tenant, manifest: manifest.name, since, ...data },
      };
      try {
        await deliver({ name: receiver, url, secret }, message);
        await remember(database, { manifest_id: id, receiver, topic }, condition, new Date(now()));
      } catch (error) {
        failure = error;
      }
    }
  if (failure !== undefined) throw failure;
}

interface Said {
  readonly about: string;
  readonly said_at: Date;
}

/** What is to be said about a condition, after what was said before; undefined for nothing. */
export function stageOf(
  condition: { readonly about: string } | undefined,
  before: Said | undefined,
  now: number,
): "first" | "still" | "resolved" | undefined {
  if (condition === undefined) return before === undefined ? undefined : "resolved";
  if (before === undefined || before.about !== condition.about) return "first";
  return now - before.said_at.getTime() >= stillAfter ? "still" : undefined;
}

/** The conditions of a manifest by topic. Unsettled: a run is at work that may end it, or be it again. */
async function conditionsOf(
  database: Database,
  manifest: ManifestRow,
): Promise<readonly (readonly [Topic, Condition | undefined | "unsettled"])[]> {
  if (manifest.removed_at !== null)
    return [
      ["drift", undefined],
      ["approval", undefined],
      ["failure", undefined],
    ];
  const open = await database
    .selectFrom("runs")
    .select(["id", "status", "fingerprint", "verdict", "counts", "reasons", "created_at"])
    .where("manifest_id", "=", manifest.id)
    .where("ended_at", "is", null)
    .orderBy("created_at", "desc")
    .execute();
  const last = await database
    .selectFrom("runs")
    .select(["id", "status", "reasons", "ended_at", "created_at"])
    .where("manifest_id", "=", manifest.id)
    .where("ended_at", "is not", null)
    .where("status", "not in", ["superseded", "canceled", "discarded"])
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  const waiting = open.find(({ status }) => status === "needs_approval");
  const isAtWork = open.some(({ status }) => status !== "needs_approval");
  const { drifted_at: drifted, trouble } = manifest;
  const approval = waiting && {
    since: waiting.created_at,
    about: waiting.fingerprint ?? waiting.id,
    data: {
      run: waiting.id,
      fingerprint: waiting.fingerprint,
      verdict: waiting.verdict,
      counts: waiting.counts,
      reasons: waiting.reasons,
    },
  };
  const hasFailed = last !== undefined && ["errored", "stale", "blocked"].includes(last.status);
  const failure =
    trouble === null
      ? hasFailed
        ? {
            since: last.ended_at ?? last.created_at,
            about: last.status,
            data: { run: last.id, status: last.status, reasons: last.reasons },
          }
        : undefined
      : { since: manifest.checked_at ?? manifest.created_at, about: "source", data: { reasons: [trouble] } };
  return [
    ["drift", drifted === null ? undefined : { since: drifted, about: "drift", data: {} }],
    ["approval", approval ?? (isAtWork ? "unsettled" : undefined)],
    ["failure", failure ?? (isAtWork ? "unsettled" : undefined)],
  ];
}

async function remember(
  database: Database,
  row: { readonly manifest_id: string; readonly receiver: string; readonly topic: Topic },
  condition: Condition | undefined,
  at: Date,
): Promise<void> {
  if (condition === undefined) {
    await database
      .deleteFrom("webhooks")
      .where((where) => where.and(row))
      .execute();
    return;
  }
  const said = { about: condition.about, since: condition.since, said_at: at };
  await database
    .insertInto("webhooks")
    .values({ ...row, ...said })
    .onConflict((conflict) => conflict.columns(["manifest_id", "receiver", "topic"]).doUpdateSet(said))
    .execute();
}

/** The same for the same message, however often it is sent. */
function idOf(parts: readonly string[]): string {
  return `msg_${createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 27)}`;
}
