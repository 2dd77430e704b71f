import process from "node:process";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { openDatabase } from "../../src/controller/database/connect.ts";
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
