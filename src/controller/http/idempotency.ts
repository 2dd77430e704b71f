/** @module Answers a repeated request with the answer of the first one, by its Idempotency-Key. */
import { sql } from "kysely";
import type { Database } from "../database/connect.ts";
import { digestOf } from "../digest.ts";
import { Problem } from "./problem.ts";

/** A request that may come twice: the token and key that name it, and all that it consists of. */
interface Repeatable {
  readonly token: string;
  readonly key: string;
  readonly parts: readonly (string | Buffer)[];
}

/**
 * Does `work` once for a key: for a day, later requests get its answer. A refusal gives the key back. Rejects with a Problem if the key
 * belongs to another request, or if the first one is still being answered; one without an answer for a minute has died.
 */
export async function once(
  database: Database,
  { token, key, parts }: Repeatable,
  work: () => Promise<Response>,
): Promise<Response> {
  if (!/^[\x21-\x7e]{1,255}$/.test(key))
    throw new Problem("invalid-request", "an Idempotency-Key has 1 to 255 visible characters");
  const digest = digestOf(...parts).toString("hex");
  const mine = { token_id: token, key };
  await sql`DELETE FROM graphform.answers WHERE token_id = ${token} AND key = ${key} AND at < clock_timestamp()
    - CASE status WHEN 0 THEN interval '1 minute' ELSE interval '1 day' END`.execute(database);
  const made = await database
    .insertInto("answers")
    .values({ ...mine, digest, status: 0, body: "" })
    .onConflict((conflict) => conflict.doNothing())
    .returning("key")
    .executeTakeFirst();
  if (made === undefined) {
    const stored = await database
      .selectFrom("answers")
      .selectAll()
      .where((where) => where.and(mine))
      .executeTakeFirst();
    if (stored !== undefined && stored.digest !== digest) throw new Problem("key-reused");
    if (stored === undefined || stored.status === 0)
      throw new Problem("in-progress", undefined, { "retry-after": "1" });
    const headers = { "content-type": "application/json", "idempotency-replayed": "true" };
    return new Response(stored.body, { status: stored.status, headers });
  }
  try {
    const answer = await work();
    const kept = { status: answer.status, body: await answer.clone().text() };
    const row = database.updateTable("answers").set(kept);
    await row.where((where) => where.and(mine)).execute();
    return answer;
  } catch (error) {
    const row = database.deleteFrom("answers").where((where) => where.and(mine));
    await row.execute().catch(() => undefined);
    throw error;
  }
}
