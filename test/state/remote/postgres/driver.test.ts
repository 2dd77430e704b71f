import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { StateDriver, Written } from "../../../../src/state/remote/driver.ts";
import type { PostgresConfig } from "../../../../src/state/remote/postgres/connection-settings.ts";
import { createPostgresDriver, creation } from "../../../../src/state/remote/postgres/postgres-driver.ts";
import { tablesIn } from "../../../../src/state/remote/postgres/state-rows.ts";
import { openPgbouncer, type Pgbouncer } from "../../../support/pgbouncer.ts";
import { openPostgres, type Postgres } from "../../../support/postgres.ts";
import { until } from "../../../support/workspace.ts";
import { documentOf, holder, taken } from "./samples.ts";

let postgres: Postgres;
let pgbouncer: Pgbouncer;
const drivers: StateDriver[] = [];
let states = 0;

beforeAll(async () => {
  postgres = await openPostgres();
  // Where PgBouncer is not installed it is fetched, once.
  pgbouncer = await openPgbouncer(postgres);
}, 300_000);
afterEach(async () => {
  await Promise.all(drivers.splice(0).map((driver) => driver.close()));
});
afterAll(async () => {
  await pgbouncer?.close();
  await postgres?.close();
});

describe.each(["PostgreSQL", "PgBouncer in transaction mode"])("a state in %s", (way) => {
  const open = (config: Partial<PostgresConfig> = {}): StateDriver => {
    const { credentials } = way === "PostgreSQL" ? postgres : pgbouncer;
    const driver = createPostgresDriver({ name: `state-${states}`, ...config }, credentials);
    drivers.push(driver);
    return driver;
  };
  /** So many drivers of one new state, as runs on different machines have them. */
  const openAll = async (count: number): Promise<readonly StateDriver[]> => {
    states += 1;
    const all = Array.from({ length: count }, () => open());
    await all[0]?.prepare();
    return all;
  };
  const openTwo = async (): Promise<readonly [StateDriver, StateDriver]> => {
    const [a, b] = await openAll(2);
    if (a === undefined || b === undefined) throw new Error("two were asked for");
    return [a, b];
  };

  it("has its tables after four runs made them at once, and says so before", async () => {
    states += 1;
    const schema = `made "here" ${states}`;
    const [first = open(), ...others] = [1, 2, 3, 4].map(() => open({ schema }));
    for (const early of [() => first.read(), () => first.probe(), () => first.take(holder())])
      await expect(early()).rejects.toMatchObject({
        code: "state-unsuitable",
        hint: expect.stringContaining("graphform state init"),
      });
    await Promise.all([first, ...others].map((driver) => driver.prepare()));
    await first.prepare();
    await first.probe();
    expect(await first.read()).toBeUndefined();
    expect(await first.holder()).toBeUndefined();
    // The rehearsal leaves nothing.
    const quoted = `"${schema.replaceAll('"', '""')}"`;
    const rows = await postgres.sql(
      `SELECT name FROM ${quoted}.states UNION SELECT name FROM ${quoted}.locks UNION SELECT name FROM ${quoted}.state_versions`,
    );
    expect(rows).toEqual([]);
  });

  it("waits with making its tables for a run that is making them", async () => {
    states += 1;
    const schema = `made_${states}`;
    const other = await postgres.session();
    await other.query("BEGIN");
    await other.query(creation(tablesIn(schema, 0), false));
    const both = Promise.all([open({ schema }).prepare(), open({ schema }).prepare()]);
    await waiting(2);
    await other.query("COMMIT");
    expect(await both).toEqual([undefined, undefined]);
  });

  it("is stored byte for byte, in versions", async () => {
    const [driver] = await openAll(1);
    if (driver === undefined) throw new Error("one was asked for");
    const lease = await taken(driver);
    expect(await driver.write(documentOf(1), undefined, lease)).toEqual({ is: "written", version: "1" });
    expect(await driver.write(documentOf(2), undefined, lease)).toEqual({ is: "stale" });
    expect(await driver.write(documentOf(2), "2", lease)).toEqual({ is: "stale" });
    expect(await driver.write(documentOf(2), "1", lease)).toEqual({ is: "written", version: "2" });
    expect(await driver.read()).toEqual({ text: documentOf(2), version: "2" });
    expect(await driver.history()).toEqual([
      { id: "2", serial: 2, savedAt: expect.stringMatching(/^\d{4}-.*Z$/) },
      { id: "1", serial: 1, savedAt: expect.stringMatching(/^\d{4}-.*Z$/) },
    ]);
    expect(await driver.readVersion("1")).toBe(documentOf(1));
    for (const id of ["3", "x", "1; DROP"])
      await expect(driver.readVersion(id)).rejects.toMatchObject({ code: "version-unknown" });
  });

  it("keeps the last versions, or none", async () => {
    states += 1;
    const [three, none] = [open({ versions: 3 }), open({ name: `none-${states}`, versions: 0 })];
    await three.prepare();
    for (const driver of [three, none]) {
      const lease = await taken(driver);
      for (let serial = 1; serial <= 5; serial += 1)
        await driver.write(documentOf(serial), serial === 1 ? undefined : `${serial - 1}`, lease);
    }
    expect((await three.history())?.map(({ serial }) => serial)).toEqual([5, 4, 3]);
    expect(await none.history()).toBeUndefined();
    expect((await none.read())?.text).toBe(documentOf(5));
  });

  it.each([
    ["10 000 resources", documentOf(1, 10_000)],
    ["5 MB", documentOf(1, 40_000)],
  ])("holds a document of %s", async (_size, text) => {
    const [writer, reader] = await openTwo();
    const lease = await taken(writer);
    expect((await writer.write(text, undefined, lease)).is).toBe("written");
    expect((await reader.read())?.text === text).toBe(true);
    expect((await writer.readVersion("1")) === text).toBe(true);
  });

  it("is locked by one of four at once, when it is free and when a lease has run out", async () => {
    const all = await openAll(4);
    const round = async (): Promise<readonly string[]> => {
      const ends = await Promise.all(all.map((driver) => driver.take(holder())));
      return ends.map((end) => end.is).sort();
    };
    expect(await round()).toEqual(["held", "held", "held", "taken"]);
    await postgres.sql("UPDATE graphform.locks SET expires_at = clock_timestamp() WHERE name = $1", [
      `state-${states}`,
    ]);
    expect(await round()).toEqual(["held", "held", "held", "taken"]);
  });

  it("is written by one of four equal writers", async () => {
    const all = await openAll(4);
    const lease = await taken(all[0] ?? open());
    for (const expected of [undefined, "1"]) {
      const ends = await Promise.all(
        all.map((driver, index) => driver.write(documentOf(index), expected, lease)),
      );
      expect(ends.filter((end) => end.is === "written")).toHaveLength(1);
    }
    expect(await all[1]?.history()).toHaveLength(2);
  });

  it("shows its holder by the database's clock, and is taken again under the same id", async () => {
    const [a, b] = await openTwo();
    const long = { ...holder(60_000), created: "2020-01-01T00:00:00.000Z" };
    // A clock that is years behind says nothing: the length of the lease counts.
    const late = { ...long, heartbeat: "2020-01-01T00:00:00.000Z", expires: "2020-01-01T00:01:00.000Z" };
    const lease = await taken(a, late);
    expect(lease.token).toBe("1");
    expect(await taken(a, late)).toMatchObject({ token: "1" });
    const end = await b.take(holder());
    expect(end).toMatchObject({ is: "held", by: { id: late.id, who: "ann@laptop", operation: "apply" } });
    const by = await b.holder();
    expect(Date.parse(by?.expires ?? "")).toBeGreaterThan(Date.now());
    expect(Date.parse(by?.expires ?? "") - Date.parse(by?.heartbeat ?? "")).toBeCloseTo(60_000, -2);
    const renewed = await a.renew(lease, holder(120_000, late.id));
    expect(renewed).toMatchObject({ is: "renewed", lease: { token: "1" } });
    expect(Date.parse((await b.holder())?.expires ?? "")).toBeGreaterThan(Date.parse(by?.expires ?? ""));
  });

  it("takes nothing from a holder whose lease was taken over", async () => {
    const [old, next] = await openTwo();
    const first = holder(1);
    const lost = await taken(old, first);
    const end = await until(async () => {
      const attempt = await next.take(holder());
      return attempt.is === "taken" ? attempt : undefined;
    }, "the lease of the old holder to run out");
    expect(end.over).toMatchObject({ id: first.id, who: "ann@laptop" });
    const { lease } = end;
    expect(lease.token).toBe("2");
    expect(await old.write(documentOf(1), undefined, lost)).toEqual({ is: "stale" });
    await next.write(documentOf(2), undefined, lease);
    expect(await old.write(documentOf(3), "1", lost)).toEqual({ is: "stale" });
    expect(await old.renew(lost, holder(60_000, first.id))).toMatchObject({
      is: "lost",
      to: { id: lease.holder.id },
    });
    await old.release(lost);
    expect((await next.holder())?.id).toBe(lease.holder.id);
    expect(await old.remove(first.id)).toBe(false);
    expect((await next.read())?.text).toBe(documentOf(2));
  });

  it("writes nothing under a lease that has run out, and goes on once it is renewed", async () => {
    const [driver] = await openTwo();
    const short = holder(1);
    const lease = await taken(driver, short);
    await until(
      async () => ((await driver.holder()) === undefined ? true : undefined),
      "the end of the lease",
    );
    expect(await driver.write(documentOf(1), undefined, lease)).toEqual({ is: "stale" });
    const renewed = await driver.renew(lease, holder(60_000, short.id));
    if (renewed.is !== "renewed") throw new Error("nobody took it");
    expect((await driver.write(documentOf(1), undefined, renewed.lease)).is).toBe("written");
  });

  it("is given back, or removed by the exact id, and its fence goes on", async () => {
    const [a, b] = await openTwo();
    const lease = await taken(a);
    expect(await b.remove("0000000000000000")).toBe(false);
    await a.release(lease);
    expect(await a.holder()).toBeUndefined();
    expect(await a.renew(lease, lease.holder)).toEqual({ is: "lost" });
    const again = await b.take(holder());
    expect(again).not.toHaveProperty("over");
    expect(again).toMatchObject({ is: "taken", lease: { token: "2" } });
    if (again.is !== "taken") throw new Error("it was free");
    expect(await a.remove(again.lease.holder.id)).toBe(true);
    expect(await b.write(documentOf(1), undefined, again.lease)).toEqual({ is: "stale" });
    expect(await b.renew(again.lease, again.lease.holder)).toEqual({ is: "lost" });
    expect(await taken(a)).toMatchObject({ token: "3" });
  });

  it.each([
    ["affects nothing when it is committed", "COMMIT", "stale"],
    ["is done when it is rolled back", "ROLLBACK", "written"],
  ])("waits with a write for a forced unlock that is not committed, and %s", async (_what, end, is) => {
    const [driver] = await openTwo();
    const lease = await taken(driver);
    const person = await postgres.session();
    await person.query("BEGIN");
    await person.query("UPDATE graphform.locks SET expires_at = '-infinity' WHERE name = $1", [
      `state-${states}`,
    ]);
    const write = driver.write(documentOf(1), undefined, lease);
    await waiting();
    await person.query(end);
    expect((await write).is).toBe(is);
  });

  it("lets nobody take the lock over between the check of a write and its commit", async () => {
    const [old, next] = await openTwo();
    const first = holder();
    const lease = await taken(old, first);
    expect((await old.write(documentOf(1), undefined, lease)).is).toBe("written");
    const person = await postgres.session();
    await person.query("BEGIN");
    await person.query("SELECT 1 FROM graphform.states WHERE name = $1 FOR UPDATE", [`state-${states}`]);
    // A lease that is long enough for a write to find it valid, and short enough to run out while that write waits.
    const begin = async (length: number): Promise<{ readonly ended: Promise<Written> }> => {
      await old.renew(lease, holder(length, first.id));
      const ended = old.write(documentOf(2), "1", lease);
      const early = await Promise.race([waiting(), ended]);
      return early === undefined ? { ended } : begin(length * 2);
    };
    const { ended } = await begin(200);
    // The lease runs out while the write waits, and still nobody gets it before the write is done.
    await until(async () => ((await next.holder()) === undefined ? true : undefined), "the end of the lease");
    const take = next.take(holder());
    await waiting(2);
    await person.query("ROLLBACK");
    expect((await ended).is).toBe("written");
    expect((await take).is).toBe("taken");
    expect((await next.read())?.text).toBe(documentOf(2));
  });

  it("gives up by itself on a row that somebody keeps locked", async () => {
    const [driver] = await openTwo();
    const lease = await taken(driver);
    const person = await postgres.session();
    await person.query("BEGIN");
    await person.query("SELECT 1 FROM graphform.locks WHERE name = $1 FOR UPDATE", [`state-${states}`]);
    const hasty = open({ requestTimeout: 3000 });
    await expect(hasty.write(documentOf(1), undefined, lease)).rejects.toMatchObject({
      code: "state-unreachable",
      message: expect.stringContaining("55P03"),
    });
    await person.query("ROLLBACK");
    expect(await driver.read()).toBeUndefined();
    expect((await driver.write(documentOf(1), undefined, lease)).is).toBe("written");
  });
});

it("leaves no setting in a connection of PgBouncer that others get", async () => {
  states += 1;
  const driver = createPostgresDriver({ name: `state-${states}` }, pgbouncer.credentials);
  drivers.push(driver);
  await driver.prepare();
  const lease = await taken(driver);
  await driver.write(documentOf(1), undefined, lease);
  const { PGPORT, PGUSER: user, PGPASSWORD: password, PGDATABASE: database } = pgbouncer.credentials;
  const clients = [1, 2].map(
    () => new pg.Client({ host: "127.0.0.1", port: Number(PGPORT), user, password, database }),
  );
  // Two transactions at once: these are all the connections that it has.
  for (const client of clients) {
    await client.connect();
    await client.query("BEGIN");
  }
  for (const client of clients) {
    const { rows } = await client.query(
      "SELECT current_setting('lock_timeout') AS lock, current_setting('synchronous_commit') AS sync",
    );
    expect(rows).toEqual([{ lock: "0", sync: "on" }]);
  }
  await Promise.all(clients.map((client) => client.end()));
});

/** Resolves when so many statements wait for a row of somebody else. */
async function waiting(count = 1): Promise<void> {
  await until(async () => {
    const rows = await postgres.sql(
      "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%graphform%'",
    );
    return rows.length >= count ? true : undefined;
  }, "a statement that waits for a lock");
}
