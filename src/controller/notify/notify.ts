/** @module Notifies receivers of webhooks of lasting conditions: once at the begin, once a day meanwhile, once at the end. */
import { createHmac } from "node:crypto";
import type { Selectable } from "kysely";
import { GraphformError, readSecret, type SecretSource } from "../../index.ts";
import type { LiveConfig } from "../config/config.ts";
import { type Database, databaseTime } from "../database/connect.ts";
import type { ManifestRow, RunRow, Schema } from "../database/schema.ts";
import { digestOf } from "../digest.ts";
import { openRuns } from "../runs/run-moves.ts";

/** A condition that receivers are notified of. With another `about` it is a new one. */
interface Condition {
  readonly since: Date;
  readonly about: string;
  readonly data: object;
}

type Topic = "drift" | "approval" | "failure";

/** Ms after which a receiver is reminded of a condition that lasts. */
const stillAfter = 86_400_000;

/**
 * Notifies the receivers of a manifest's tenant. It is called after each run, and may be called at any time: a notification is not
 * sent again. Rejects if a receiver did not take its message, after the others were told: the next call repeats that message, with its id.
 */
export async function notifyManifest(
  { database, config }: { readonly database: Database; readonly config: LiveConfig },
  id: string,
  given?: number,
): Promise<void> {
  const manifest = await database.selectFrom("manifests").selectAll().where("id", "=", id).executeTakeFirst();
  if (manifest === undefined) return;
  const receivers = Object.entries(config.current().webhooks).filter(
    ([, { tenants }]) => tenants === undefined || tenants.includes(manifest.tenant),
  );
  if (receivers.length === 0) return;
  const conditions = Object.entries(await conditionsOf(database, manifest));
  const said = await database.selectFrom("webhooks").selectAll().where("manifest_id", "=", id).execute();
  const now = given ?? (await databaseTime(database)).getTime();
  const failures: unknown[] = [];
  for (const [receiver, { url, secret }] of receivers)
    for (const [topic, condition] of conditions) {
      const before = said.find((row) => row.topic === topic && row.receiver === receiver);
      const stage = condition === "unsettled" ? undefined : stageOf(condition, before, now);
      if (condition === "unsettled" || stage === undefined) continue;
      const { since, about, data } = condition ?? { since: before?.since, about: "", data: {} };
      const type = `${topic}.${stage}`;
      const name = digestOf(id, receiver, type, about, (before?.said_at ?? since)?.toISOString() ?? "");
      const message = {
        ...{ id: `msg_${name.toString("base64url").slice(0, 27)}`, type, timestamp: new Date(now) },
        data: { tenant: manifest.tenant, manifest: manifest.name, since, ...data },
      };
      const row = { manifest_id: id, receiver, topic };
      await deliver({ name: receiver, url, secret }, message)
        .then(() => remember(database, row, condition, message.timestamp))
        .catch((error: unknown) => failures.push(error));
    }
  if (failures.length > 0) throw failures[0];
}

/** The next notification about a condition, after the last one; undefined if none is due. */
export function stageOf(
  condition: { readonly about: string } | undefined,
  before: { readonly about: string; readonly said_at: Date } | undefined,
  now: number,
): "first" | "still" | "resolved" | undefined {
  if (condition === undefined) return before === undefined ? undefined : "resolved";
  if (before?.about !== condition.about) return "first";
  return now - before.said_at.getTime() >= stillAfter ? "still" : undefined;
}

/**
 * The conditions of a manifest by topic. Unsettled: a run is at work that may end it, or be it again. An approval is over when a person, or
 * the policy, has decided.
 */
async function conditionsOf(
  database: Database,
  { id, removed_at, drifted_at: drifted, trouble, checked_at, created_at }: ManifestRow,
): Promise<{ readonly [topic in Topic]: Condition | undefined | "unsettled" }> {
  if (removed_at !== null) return { drift: undefined, approval: undefined, failure: undefined };
  const open = await openRuns(database, id);
  const runs = database.selectFrom("runs").selectAll().where("manifest_id", "=", id);
  const ended = runs.where("ended_at", "is not", null).orderBy("created_at", "desc").limit(1);
  const own = ended.where("status", "not in", ["superseded", "canceled", "discarded"]);
  const last = await own.executeTakeFirst();
  const waiting = open.find(({ status }) => status === "needs_approval");
  const isPlanning = open.some(({ status }) => status === "pending" || status === "planning");
  const otherwise = open.length > 0 && waiting === undefined ? "unsettled" : undefined;
  // A plan that went stale is planned again: it has failed if nothing follows.
  const hasFailed =
    last?.status === "errored" ||
    last?.status === "blocked" ||
    (last?.status === "stale" && open.length === 0);
  const source = { since: checked_at ?? created_at, about: "source", data: { reasons: [trouble] } };
  return {
    drift: drifted === null ? undefined : { since: drifted, about: "drift", data: {} },
    approval: waiting
      ? conditionOf(waiting, waiting.fingerprint ?? waiting.id)
      : isPlanning
        ? "unsettled"
        : undefined,
    failure: trouble === null ? (last && hasFailed ? conditionOf(last, last.status) : otherwise) : source,
  };
}

/** The condition that is a run: one that has ended, or one that waits. */
function conditionOf(
  { id, status, fingerprint, verdict, counts, reasons, created_at, ended_at }: RunRow,
  about: string,
): Condition {
  const data = { run: id, status, fingerprint, verdict, counts, reasons };
  return { since: ended_at ?? created_at, about, data };
}

async function remember(
  database: Database,
  row: Pick<Selectable<Schema["webhooks"]>, "manifest_id" | "receiver" | "topic">,
  condition: Condition | undefined,
  said_at: Date,
): Promise<void> {
  const { since, about = "" } = condition ?? {};
  const said = { about, since: since ?? said_at, said_at };
  const saying = database.insertInto("webhooks").values({ ...row, ...said });
  const over = database.deleteFrom("webhooks").where((where) => where.and(row));
  const key = ["manifest_id", "receiver", "topic"] as const;
  await (condition
    ? saying.onConflict((conflict) => conflict.columns(key).doUpdateSet(said))
    : over
  ).execute();
}

/** A message. Its id names it to the receiver if it comes twice. */
interface Message {
  readonly id: string;
  readonly type: string;
  readonly timestamp: Date;
  readonly data: object;
}

const patience = 15_000;

/**
 * Sends a message to an address of the configuration, and to no other: redirections are not followed. Rejects with `webhook-refused` unless
 * the receiver answers 2xx; the message of the error has neither its answer nor its path, which may hold a token.
 */
async function deliver(
  { name, url, secret }: { readonly name: string; readonly url: string; readonly secret: SecretSource },
  message: Message,
): Promise<void> {
  const { id, type, timestamp, data } = message;
  const body = JSON.stringify({ type, timestamp, data });
  const seconds = String(Math.floor(timestamp.getTime() / 1000));
  // The specification's key is in base64, behind `whsec_`.
  const key = (await readSecret(`webhooks.${name}.secret`, secret)).replace(/^whsec_/, "");
  const hmac = createHmac("sha256", Buffer.from(key, "base64")).update(`${id}.${seconds}.${body}`);
  const response = await fetch(url, {
    ...{ method: "POST", redirect: "manual", signal: AbortSignal.timeout(patience), body },
    headers: {
      ...{ "content-type": "application/json", "user-agent": "graphform" },
      ...{ "webhook-id": id, "webhook-timestamp": seconds },
      "webhook-signature": `v1,${hmac.digest("base64")}`,
    },
  }).catch((cause: unknown) => {
    throw refused(name, "does not answer", cause);
  });
  await response.body?.cancel();
  if (!response.ok) throw refused(name, `answered ${response.status}`);
}

function refused(name: string, what: string, cause?: unknown): GraphformError {
  const hint = "look at webhooks in the configuration of the controller";
  return new GraphformError("webhook-refused", `the receiver ${name} of webhooks ${what}`, { hint, cause });
}
