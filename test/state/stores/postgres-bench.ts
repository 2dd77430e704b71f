import { afterAll, beforeAll } from "vitest";
import type { StateDriver } from "../../../src/state/remote/driver.ts";
import { createPostgresDriver } from "../../../src/state/remote/postgres/postgres-driver.ts";
import { openPgbouncer, type Pgbouncer } from "../../support/pgbouncer.ts";
import { openPostgres, type Postgres } from "../../support/postgres.ts";
import { driverBench, type StoreBench } from "./store-bench.ts";

const reader = "reader";
let postgres: Postgres;
let pgbouncer: Pgbouncer;
let states = 0;
const drivers: StateDriver[] = [];

// One server for the whole file; PgBouncer may have to be fetched first.
beforeAll(async () => {
  postgres = await openPostgres();
  pgbouncer = await openPgbouncer(postgres, [reader]);
  await createPostgresDriver({ name: "shop" }, postgres.credentials).prepare();
  await postgres.sql(
    `CREATE ROLE ${reader} LOGIN PASSWORD '${postgres.password}'; GRANT USAGE ON SCHEMA graphform TO ${reader};
    GRANT SELECT ON ALL TABLES IN SCHEMA graphform TO ${reader}`,
  );
}, 300_000);

afterAll(async () => {
  await closeDrivers();
  await pgbouncer?.close();
  await postgres?.close();
});

/** A bench on a real PostgreSQL, or by way of PgBouncer in transaction mode. */
export async function postgresBench(way: "direct" | "pgbouncer"): Promise<StoreBench> {
  await closeDrivers();
  states += 1;
  const name = `shop-${states}`;
  const { credentials } = way === "direct" ? postgres : pgbouncer;
  const driver = (other: { readonly [variable: string]: string } = {}): StateDriver => {
    const opened = createPostgresDriver({ name }, { ...credentials, ...other });
    drivers.push(opened);
    return opened;
  };
  return driverBench({
    driver: () => driver(),
    expire: async () => {
      await postgres.sql("UPDATE graphform.locks SET expires_at = clock_timestamp() WHERE name = $1", [name]);
    },
    denied: () => driver({ PGPASSWORD: "wrong" }),
    withoutLock: () => driver({ PGUSER: reader }),
  });
}

/** Ends the connections of the case before. */
async function closeDrivers(): Promise<void> {
  await Promise.all(drivers.splice(0).map((driver) => driver.close()));
}
