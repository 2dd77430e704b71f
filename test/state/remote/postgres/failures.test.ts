import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { inspect } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { ensureAuthority } from "../../../../src/platform/engine/tls.ts";
import type { StateDriver } from "../../../../src/state/remote/driver.ts";
import type {
  PostgresConfig,
  PostgresCredentials,
} from "../../../../src/state/remote/postgres/connection-settings.ts";
import { createPostgresDriver } from "../../../../src/state/remote/postgres/postgres-driver.ts";
import { portOf, stopper } from "../../../support/listening.ts";
import { openPgbouncer, type Pgbouncer } from "../../../support/pgbouncer.ts";
import { openPostgres, type Postgres } from "../../../support/postgres.ts";
import { openTcpProxy, type TcpProxy } from "../../../support/tcp-proxy.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { until } from "../../../support/workspace.ts";
import { documentOf, holder, taken } from "./samples.ts";

let folder: string;
let caFile: string;
let postgres: Postgres;
let pgbouncer: Pgbouncer;
const closers: (() => Promise<void>)[] = [];
let states = 0;

beforeAll(async () => {
  folder = temporaryFolder("tls");
  const files = await ensureAuthority(folder);
  caFile = files.caFile;
  const [cert, key] = [readFileSync(files.certFile, "utf8"), readFileSync(files.keyFile, "utf8")];
  postgres = await openPostgres({ tls: { cert, key } });
  pgbouncer = await openPgbouncer(postgres);
}, 300_000);
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(async () => {
  await pgbouncer?.close();
  await postgres?.close();
});

/** A driver of this test's own state. */
function open(config: Partial<PostgresConfig> = {}, credentials: PostgresCredentials = {}): StateDriver {
  const name = `state-${states}`;
  const driver = createPostgresDriver({ name, ...config }, { ...postgres.credentials, ...credentials });
  closers.push(() => driver.close());
  return driver;
}

/** A prepared state of its own. */
async function openNew(): Promise<StateDriver> {
  states += 1;
  const driver = open();
  await driver.prepare();
  return driver;
}

/** The error of a call, after a look for what it must not have. */
async function refusal(call: Promise<unknown>): Promise<object> {
  const error: unknown = await call.then(
    (value) => new Error(`it was not refused: ${inspect(value)}`),
    (thrown: unknown) => thrown,
  );
  const all = inspect(error, { depth: 20, showHidden: true });
  for (const secret of [postgres.password, "wrong-password", "lineage", "Größe"])
    expect(all).not.toContain(secret);
  if (!(error instanceof Error)) throw new Error("it threw no error");
  expect(error.cause).toBeUndefined();
  return error;
}

describe("a server that goes away", () => {
  it("in the middle of a write leaves it done or not, and the next call connects again", async () => {
    const driver = await openNew();
    const lease = await taken(driver);
    await driver.write(documentOf(1), undefined, lease);
    const person = await postgres.session();
    await person.query("BEGIN");
    await person.query("SELECT 1 FROM graphform.states WHERE name = $1 FOR UPDATE", [`state-${states}`]);
    const write = refusal(driver.write(documentOf(2), "1", lease));
    await until(async () => {
      const rows = await postgres.sql("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
      return rows.length > 0 ? true : undefined;
    }, "a write that waits");
    await postgres.kill();
    expect(await write).toMatchObject({ code: "state-unreachable" });
    const calls = [
      () => driver.read(),
      () => driver.renew(lease, lease.holder),
      () => driver.holder(),
      () => driver.probe(),
    ];
    for (const call of calls) expect(await refusal(call())).toMatchObject({ code: "state-unreachable" });
    await postgres.start();
    expect(await driver.read()).toEqual({ text: documentOf(1), version: "1" });
    // The lease is a row: it outlives connections and the server.
    expect((await driver.renew(lease, lease.holder)).is).toBe("renewed");
    expect((await driver.write(documentOf(2), "1", lease)).is).toBe("written");
  });

  it("between two calls is noticed by one call at most", async () => {
    const driver = await openNew();
    await driver.read();
    await postgres.kill();
    await postgres.start();
    const first: unknown = await driver.read().catch((error: unknown) => error);
    if (first !== undefined) expect(first).toMatchObject({ code: "state-unreachable" });
    expect(await driver.read()).toBeUndefined();
  });
});

describe.each(["PostgreSQL", "PgBouncer"])("an answer of %s that is lost", (way) => {
  const openBehind = async (): Promise<{
    readonly proxy: TcpProxy;
    readonly driver: StateDriver;
    readonly direct: StateDriver;
  }> => {
    const direct = await openNew();
    const { credentials } = way === "PgBouncer" ? pgbouncer : postgres;
    const proxy = await openTcpProxy(Number(credentials["PGPORT"]));
    closers.push(() => proxy.close());
    return { proxy, direct, driver: open({}, { PGPORT: `${proxy.port}` }) };
  };

  it("leaves a write done once, which reading shows", async () => {
    const { proxy, driver, direct } = await openBehind();
    const lease = await taken(driver);
    proxy.next("lose-answer");
    expect(await refusal(driver.write(documentOf(1), undefined, lease))).toMatchObject({
      code: "state-unreachable",
    });
    // The answer was on its way, so the commit was done.
    expect(await direct.read()).toEqual({ text: documentOf(1), version: "1" });
    expect(await driver.write(documentOf(1), undefined, lease)).toEqual({ is: "stale" });
    proxy.next("lose-request");
    expect(await refusal(driver.write(documentOf(2), "1", lease))).toMatchObject({
      code: "state-unreachable",
    });
    expect((await driver.read())?.version).toBe("1");
    expect((await driver.write(documentOf(2), "1", lease)).is).toBe("written");
    expect(proxy.sent()).not.toContain(postgres.password);
  });

  it("leaves a lock that the same id takes again, renews and gives back", async () => {
    const { proxy, driver, direct } = await openBehind();
    await driver.read();
    const by = holder();
    proxy.next("lose-answer");
    expect(await refusal(driver.take(by))).toMatchObject({ code: "state-unreachable" });
    expect((await direct.holder())?.id).toBe(by.id);
    const lease = await taken(driver, by);
    expect(lease.token).toBe("1");
    proxy.next("lose-answer");
    expect(await refusal(driver.renew(lease, by))).toMatchObject({ code: "state-unreachable" });
    expect((await driver.renew(lease, by)).is).toBe("renewed");
    proxy.next("lose-answer");
    expect(await refusal(driver.release(lease))).toMatchObject({ code: "state-unreachable" });
    await driver.release(lease);
    expect(await direct.holder()).toBeUndefined();
  });

  it("ends a call when its time is over", async () => {
    const { proxy } = await openBehind();
    const hasty = open({ requestTimeout: 1000, connectTimeout: 1000 }, { PGPORT: `${proxy.port}` });
    // A loaded machine may take longer than that to connect.
    await until(
      () =>
        hasty.read().then(
          () => true,
          () => undefined,
        ),
      "a connection",
    );
    for (const _phase of ["a statement", "the connection after it"]) {
      proxy.next("keep-silent");
      expect(await refusal(hasty.read())).toMatchObject({
        code: "state-unreachable",
        message: expect.stringContaining("did not answer in time"),
      });
    }
  });
});

describe("who may not", () => {
  const roleOf = async (grants = "SELECT 1"): Promise<PostgresCredentials> => {
    const role = `role_${states}`;
    await postgres.sql(
      `CREATE ROLE ${role} LOGIN PASSWORD '${postgres.password}'; ${grants.replaceAll("ROLE", role)}`,
    );
    return { PGUSER: role };
  };
  const use = "GRANT USAGE ON SCHEMA graphform TO ROLE;";

  it.each([
    ["a wrong password", { PGPASSWORD: "wrong-password" }, "state-denied"],
    ["no password", { PGPASSWORD: "" }, "state-denied"],
    ["an unknown user", { PGUSER: "nobody_here" }, "state-denied"],
    ["an unknown database", { PGDATABASE: "nowhere" }, "state-unsuitable"],
    ["a port where nothing listens", { PGPORT: "1" }, "state-unreachable"],
    ["a host that is none", { PGHOST: "nowhere.invalid", PGSSLMODE: "disable" }, "state-unreachable"],
  ])("with %s is refused", async (_what, credentials, code) => {
    await openNew();
    const ways = [credentials, { PGPORT: pgbouncer.credentials["PGPORT"] ?? "", ...credentials }];
    for (const way of ways) {
      const driver = open({}, way);
      for (const call of [() => driver.read(), () => driver.take(holder()), () => driver.prepare()])
        expect(await refusal(call())).toMatchObject({ code });
    }
  });

  it("sign in gets nothing from the environment of the process: the caller hands in what counts", async () => {
    await openNew();
    vi.stubEnv("PGPASSWORD", postgres.password);
    expect(await refusal(open({}, { PGPASSWORD: "" }).read())).toMatchObject({ code: "state-denied" });
  });

  it("without rights on the schema is sent to its owner, and may not make one", async () => {
    await openNew();
    const role = await roleOf();
    const none = open({}, role);
    for (const call of [
      () => none.read(),
      () => none.take(holder()),
      () => none.probe(),
      () => none.prepare(),
    ])
      expect(await refusal(call())).toMatchObject({
        code: "state-denied",
        hint: expect.stringContaining("GRANT"),
      });
    expect(await refusal(open({ schema: "mine" }, role).prepare())).toMatchObject({
      code: "state-unsuitable",
      hint: expect.stringContaining("a user that may create a schema"),
    });
  });

  it("write may read, and neither locks nor writes nor passes a probe", async () => {
    const driver = await openNew();
    const lease = await taken(driver);
    await driver.write(documentOf(1), undefined, lease);
    await driver.release(lease);
    const reader = open({}, await roleOf(`${use} GRANT SELECT ON ALL TABLES IN SCHEMA graphform TO ROLE`));
    expect((await reader.read())?.text).toBe(documentOf(1));
    expect(await reader.holder()).toBeUndefined();
    const calls = [
      () => reader.take(holder()),
      () => reader.write(documentOf(2), "1", lease),
      () => reader.probe(),
    ];
    for (const call of calls) expect(await refusal(call())).toMatchObject({ code: "state-denied" });
  });

  it("create tables may still do everything with the rights that the hint names, `init` too", async () => {
    await openNew();
    const rights = "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA graphform TO ROLE";
    const driver = open({}, await roleOf(`${use} ${rights}`));
    await driver.prepare();
    await driver.probe();
    const lease = await taken(driver);
    expect((await driver.write(documentOf(1), undefined, lease)).is).toBe("written");
    await driver.release(lease);
  });

  it("write by a setting of the role learns it from the probe", async () => {
    await openNew();
    const role = await roleOf(`${use} GRANT ALL ON ALL TABLES IN SCHEMA graphform TO ROLE`);
    await postgres.sql(`ALTER ROLE ${role.PGUSER} SET default_transaction_read_only = on`);
    for (const call of [() => open({}, role).probe(), () => open({}, role).take(holder())])
      expect(await refusal(call())).toMatchObject({ code: "state-unsuitable" });
  });

  it("write as the database has not the encoding UTF8 learns it from `init` and the probe", async () => {
    states += 1;
    await postgres.sql(`CREATE DATABASE latin_${states} ENCODING latin1 TEMPLATE template0`);
    const driver = open({}, { PGDATABASE: `latin_${states}` });
    for (const call of [() => driver.prepare(), () => driver.probe()])
      expect(await refusal(call())).toMatchObject({
        code: "state-unsuitable",
        message: expect.stringContaining("UTF8"),
      });
  });
});

describe("tables of somebody else", () => {
  it("with the same names are not touched", async () => {
    states += 1;
    const schema = `atlas_${states}`;
    await postgres.sql(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.states (code text)`);
    const driver = open({ schema });
    expect(await refusal(driver.prepare())).toMatchObject({ code: "state-unsuitable" });
    expect(await refusal(driver.read())).toMatchObject({ code: "state-unsuitable" });
  });

  it("that refuse a row are not quoted: PostgreSQL's own message has all of it", async () => {
    const driver = await openNew();
    const lease = await taken(driver);
    await postgres.sql(
      `ALTER TABLE graphform.states ADD CONSTRAINT small CHECK (name <> 'state-${states}') NOT VALID`,
    );
    try {
      expect(await refusal(driver.write(documentOf(1), undefined, lease))).toMatchObject({
        code: "state-unsuitable",
        message: expect.stringContaining("23514"),
      });
    } finally {
      await postgres.sql("ALTER TABLE graphform.states DROP CONSTRAINT small");
    }
  });

  it("that swallow writes fail the rehearsal of `init`", async () => {
    states += 1;
    const schema = `quiet_${states}`;
    const driver = open({ schema });
    await driver.prepare();
    await postgres.sql(
      `CREATE FUNCTION ${schema}.quiet() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER quiet BEFORE INSERT OR UPDATE ON ${schema}.states FOR EACH ROW EXECUTE FUNCTION ${schema}.quiet()`,
    );
    expect(await refusal(driver.prepare())).toMatchObject({
      code: "state-unsuitable",
      message: expect.stringContaining("rehearsal"),
    });
  });
});

describe("TLS", () => {
  it.each([
    ["verify-full with the authority", "localhost", "verify-full", true, undefined],
    ["verify-full without it", "localhost", "verify-full", false, "state-unsuitable"],
    ["verify-full by another name", "127.0.0.2", "verify-full", true, "state-unsuitable"],
    ["verify-ca by another name", "127.0.0.2", "verify-ca", true, undefined],
    ["require, which checks nothing", "127.0.0.2", "require", false, undefined],
  ] as const)("with sslmode %s", async (_what, host, sslmode, hasAuthority, code) => {
    await openNew();
    const driver = open({ host, sslmode, ...(hasAuthority ? { sslrootcert: caFile } : {}) });
    if (code === undefined) expect(await driver.read()).toBeUndefined();
    else expect(await refusal(driver.read())).toMatchObject({ code });
  });

  it("is not given up where the server has none", async () => {
    const port = await answering("N");
    expect(await refusal(open({ sslmode: "require" }, { PGPORT: `${port}` }).read())).toMatchObject({
      code: "state-unsuitable",
      message: expect.stringContaining("does not speak TLS"),
    });
  });
});

it.each([
  ["HTTP", "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"],
  ["bytes of no protocol", "\u0000\u0001\u0002\u0003".repeat(100)],
])("is refused in time by what answers with %s", async (_what, text) => {
  const driver = open({ connectTimeout: 1000 }, { PGPORT: `${await answering(text)}` });
  expect(await refusal(driver.read())).toMatchObject({
    code: expect.stringMatching(/^state-(unreachable|unsuitable)$/),
  });
});

it("has a password in no log and no table", async () => {
  const driver = await openNew();
  const lease = await taken(driver);
  await driver.write(documentOf(1), undefined, lease);
  const tables = ["states", "state_versions", "locks"].map((name) => `SELECT * FROM graphform.${name}`);
  const rows = await Promise.all(tables.map((text) => postgres.sql(text)));
  for (const text of [JSON.stringify(rows), driver.where]) expect(text).not.toContain(postgres.password);
});

/** The port of a server that answers everything with the same bytes. */
async function answering(text: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined).on("data", () => socket.write(text));
    closers.push(async () => void socket.destroy());
  });
  closers.push(await stopper(createHttpServer(), server));
  return portOf(server);
}
