import process from "node:process";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { openDatabase } from "../../src/controller/database/connect.ts";
import { prepareDatabase } from "../../src/controller/database/migrations.ts";
import { startQueue } from "../../src/controller/queue/queue.ts";
import { openPostgres } from "../support/postgres.ts";

it("a database that ends in a transaction fails it, and ends no process", async () => {
  const postgres = await openPostgres();
  const url = `postgres://root:${postgres.password}@127.0.0.1:${postgres.port}/ops`;
  const database = openDatabase(url, () => undefined);
  const unheard: unknown[] = [];
  process.on("uncaughtException", (error) => unheard.push(error));
  try {
    const work = database.transaction().execute(async (tx) => {
      await sql`SELECT 1`.execute(tx);
      await postgres.kill();
      await sql`SELECT 2`.execute(tx);
    });
    await expect(work).rejects.toThrow();
    await postgres.start();
    expect((await sql`SELECT 3 AS three`.execute(database)).rows).toEqual([{ three: 3 }]);
    expect(unheard).toEqual([]);
  } finally {
    await database.destroy();
    await postgres.close();
  }
});

it("trouble of a queue whose database ends is told in words", async () => {
  const postgres = await openPostgres();
  const url = `postgres://root:${postgres.password}@127.0.0.1:${postgres.port}/ops`;
  await prepareDatabase(url);
  const troubles: unknown[] = [];
  const queue = await startQueue(url, (error) => troubles.push(error));
  try {
    await queue.work("plan", 2, async () => undefined);
    await postgres.kill();
    await expect.poll(() => troubles.length, { timeout: 20_000 }).toBeGreaterThan(3);
    expect(troubles.filter((error) => !(error instanceof Error))).toEqual([]);
  } finally {
    await queue.stop(100);
    await postgres.close();
  }
});
