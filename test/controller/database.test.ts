import process from "node:process";
import { sql } from "kysely";
import { expect, it, vi } from "vitest";
import { isAway, openDatabase } from "../../src/controller/database/connect.ts";
import { prepareDatabase } from "../../src/controller/database/migrations.ts";
import { startQueue } from "../../src/controller/queue/queue.ts";
import { countTrouble } from "../../src/controller/serve.ts";
import { createPostgresDriver } from "../../src/state/remote/postgres/postgres-driver.ts";
import { openPostgres } from "../support/postgres.ts";
import { openTcpProxy } from "../support/tcp-proxy.ts";

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

it("a connection whose network is gone is ended, so that the next statement gets another one", async () => {
  const postgres = await openPostgres();
  const proxy = await openTcpProxy(postgres.port);
  const url = `postgres://root:${postgres.password}@127.0.0.1:${proxy.port}/ops`;
  const database = openDatabase(url, () => undefined, 500);
  const ask = sql`SELECT 1 AS one`;
  try {
    await ask.execute(database);
    proxy.next("keep-silent");
    const silent = await ask.execute(database).catch((error: unknown) => error);
    expect(isAway(silent)).toBe(true);
    expect((await ask.execute(database)).rows).toEqual([{ one: 1 }]);
  } finally {
    await database.destroy();
    await proxy.close();
    await postgres.close();
  }
});

it("trouble of a queue whose database ends is told in words, once, and then once a minute with its number", async () => {
  const postgres = await openPostgres();
  const url = `postgres://root:${postgres.password}@127.0.0.1:${postgres.port}/ops`;
  await prepareDatabase(url);
  const troubles: unknown[] = [];
  const queue = await startQueue(url, (error) => troubles.push(error));
  try {
    for (const name of ["plan", "drift", "apply"] as const) await queue.work(name, 2, async () => undefined);
    await postgres.kill();
    await expect.poll(() => troubles.length, { timeout: 20_000 }).toBeGreaterThan(12);
    expect(troubles.filter((error) => !(error instanceof Error))).toEqual([]);
    vi.useFakeTimers();
    const said: string[] = [];
    const onTrouble = countTrouble((line) => said.push(line));
    const count = troubles.length;
    for (const error of troubles.slice(0, count)) onTrouble(error);
    vi.advanceTimersByTime(60_000);
    expect(said).toEqual([
      expect.stringMatching(/^trouble: the database does not answer: [^(]+$/),
      `trouble, ${count - 1} times more in the last minute: the database does not answer`,
    ]);
  } finally {
    vi.useRealTimers();
    await queue.stop(100);
    await postgres.close();
  }
});

it("a transaction keeps others from its rows for a while only, and says nothing about the statement that waited", async () => {
  const postgres = await openPostgres();
  const url = `postgres://root:${postgres.password}@127.0.0.1:${postgres.port}/ops`;
  const database = openDatabase(url, () => undefined);
  try {
    const settings = sql<object>`SELECT current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('lock_timeout') AS lock`;
    const inside = await database.transaction().execute((tx) => settings.execute(tx));
    expect(inside.rows).toEqual([{ idle: "30s", lock: "10s" }]);
    expect((await settings.execute(database)).rows).toEqual([{ idle: "0", lock: "0" }]);
    await postgres.sql("CREATE TABLE kept (id int)");
    const session = await postgres.session();
    await session.query("BEGIN");
    await session.query("LOCK TABLE kept");
    const waiting = database.transaction().execute(async (tx) => {
      await sql`SET LOCAL lock_timeout = '50ms'`.execute(tx);
      await sql`SELECT FROM kept`.execute(tx);
    });
    expect(await waiting.catch(isAway)).toBe(true);
    const vanished = database.transaction().execute(async (tx) => {
      await sql`SET LOCAL idle_in_transaction_session_timeout = '50ms'`.execute(tx);
      await new Promise((resolve) => setTimeout(resolve, 500));
      await sql`SELECT 1`.execute(tx);
    });
    expect(await vanished.catch(isAway)).toBe(true);
  } finally {
    await database.destroy();
    await postgres.close();
  }
});

it("a role that may not change the tables of another one is told whose they are, and what to do", async () => {
  const postgres = await openPostgres();
  const at = (login: string): string => `postgres://${login}@127.0.0.1:${postgres.port}/ops`;
  try {
    for (const role of ["ada", "fleet"]) {
      await postgres.sql(`CREATE ROLE ${role} LOGIN PASSWORD 'secret-of-tests'`);
      await postgres.sql(`GRANT CREATE ON DATABASE ops TO ${role}`);
    }
    const states = createPostgresDriver(
      { name: "shop/first" },
      { ...postgres.credentials, PGUSER: "ada", PGPASSWORD: "secret-of-tests" },
    );
    await states.prepare();
    await expect(prepareDatabase(at("fleet:secret-of-tests"))).rejects.toMatchObject({
      code: "database-owner",
    });
    await postgres.sql("GRANT USAGE ON SCHEMA graphform TO fleet");
    await postgres.sql("GRANT ALL ON ALL TABLES IN SCHEMA graphform TO fleet");
    await postgres.sql("GRANT CREATE ON SCHEMA graphform TO fleet");
    await expect(prepareDatabase(at("fleet:secret-of-tests"))).rejects.toMatchObject({
      ...{ code: "database-owner", message: expect.stringContaining("must be owner of table states") },
      hint: expect.stringContaining("GRANT owner TO role"),
    });
    await postgres.sql("GRANT ada TO fleet");
    expect(await prepareDatabase(at("fleet:secret-of-tests"))).not.toEqual([]);
  } finally {
    await postgres.close();
  }
});
