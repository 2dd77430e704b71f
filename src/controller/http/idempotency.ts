/** @module Answers a repeated request with the answer of the first one, by its Idempotency-Key. */
import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Database } from "../database/connect.ts";
import { Problem } from "./problem.ts";

/** A request that may come twice: the token and key that name it, and all that it consists of. */
export interface Repeatable {
  readonly token: string;
  readonly key: string;
  readonly parts: readonly (string | Buffer)[];
}

/** Seconds after which a request without an answer counts as one that died. */
const patience = 60;
/** Answers are kept for a day. */
const kept = "24 hours";

/**
 * Does `work` once for a key: later requests get its answer. The key is claimed before the work; an answer of 500 and above gives it back.
 * Rejects with a Problem if the key belongs to another request, or if the first one is still being answered.
 */
export async function once(
  database: Database,
  { token, key, parts }: Repeatable,
  work: () => Promise<Response>,
): Promise<Response> {
  if (!/^[\x21-\x7e]{1,255}$/.test(key))
    throw new Problem("invalid-request", "the Idempotency-Key has 1 to 255 visible characters");
  const hash = createHash("sha256");
  for (const part of parts) hash.update(String(part.length)).update(":").update(part);
  const digest = hash.digest("hex");
  const claimed = await claim(database, { token, key, digest });
  if (claimed !== undefined) return claimed;
  const mine = { token_id: token, key };
  try {
    const answer = await work();
    await database
      .updateTable("answers")
      .set({ status: answer.status, body: await answer.clone().text() })
      .where((where) => where.and(mine))
      .execute();
    return answer;
  } catch (error) {
    // A refusal changes nothing, and may be another one later.
    await database
      .deleteFrom("answers")
      .where((where) => where.and(mine))
      .execute()
      .catch(() => undefined);
    throw error;
  }
}

/** Takes the key; resolves with the answer that is stored under it, or undefined if the work is ours. */
async function claim(
  database: Database,
  { token, key, digest }: { readonly token: string; readonly key: string; readonly digest: string },
): Promise<Response | undefined> {
  await sql`DELETE FROM graphform.answers WHERE token_id = ${token} AND (at < clock_timestamp() - ${kept}::interval
    OR (status = 0 AND at < clock_timestamp() - make_interval(secs => ${patience})))`.execute(database);
  const made = await database
    .insertInto("answers")
    .values({ key, token_id: token, digest, status: 0, body: "" })
    .onConflict((conflict) => conflict.doNothing())
    .returning("key")
    .executeTakeFirst();
  if (made !== undefined) return undefined;
  const stored = await database
    .selectFrom("answers")
    .selectAll()
    .where("token_id", "=", token)
    .where("key", "=", key)
    .executeTakeFirst();
  if (stored !== undefined && stored.digest !== digest) throw new Problem("key-reused");
  if (stored === undefined || stored.status === 0)
    throw new Problem("in-progress", undefined, { "retry-after": "1" });
  return new Response(stored.body, {
    status: stored.status,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      "idempotency-replayed": "true",
    },
  });
}
