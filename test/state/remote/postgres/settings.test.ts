import { describe, expect, it } from "vitest";
import { isGraphformError } from "../../../../src/model/errors.ts";
import {
  connectionSettings,
  type PostgresConfig,
  type PostgresCredentials,
} from "../../../../src/state/remote/postgres/connection-settings.ts";
import { tlsOptions } from "../../../../src/state/remote/postgres/connections.ts";

const secret = "p@ss:w/rd#1";
const url = `postgresql://ann:${encodeURIComponent(secret)}@db.example.com:6432/ops?sslmode=verify-ca&application_name=x`;
const variables = { PGHOST: "pg.example.com", PGDATABASE: "ops", PGUSER: "bob", PGPASSWORD: secret };

describe("settings of a connection", () => {
  it("come from libpq's variables", () => {
    expect(connectionSettings({ name: "prod" }, variables)).toMatchObject({
      where: "postgres://pg.example.com:5432/ops?name=prod",
      host: "pg.example.com",
      port: 5432,
      user: "bob",
      password: secret,
      sslmode: "verify-full",
    });
  });

  it("come from the URL before the variables, and from the manifest before both", () => {
    const config = { name: "prod", schema: "team", database: "ops", host: "db.example.com" };
    const given = { ...variables, GRAPHFORM_STATE_POSTGRES_URL: url, PGSSLMODE: "disable" };
    expect(connectionSettings(config, given)).toMatchObject({
      where: "postgres://db.example.com:6432/ops?name=prod&schema=team",
      user: "ann",
      password: secret,
      sslmode: "verify-ca",
    });
    expect(connectionSettings({ name: "prod", host: "::1" }, variables)).toMatchObject({
      where: "postgres://[::1]:5432/ops?name=prod",
      sslmode: "disable",
    });
  });

  it.each([
    ["localhost", "disable"],
    ["127.0.0.9", "disable"],
    ["/run/postgresql", "disable"],
    ["10.0.0.9", "verify-full"],
    ["127.0.0.1.example.com", "verify-full"],
  ])("of %s have sslmode %s where nobody says another", (host, sslmode) => {
    expect(connectionSettings({ name: "prod", host }, variables)).toMatchObject({ sslmode });
  });

  const bad: readonly (readonly [
    why: string,
    PostgresConfig,
    PostgresCredentials,
    code: string,
    says: RegExp,
  ])[] = [
    ["no user", { name: "a" }, { PGDATABASE: "ops" }, "state-denied", /no user/],
    ["no database", { name: "a" }, { PGUSER: "bob" }, "state-unsuitable", /no database/],
    ["a port of words", { name: "a" }, { ...variables, PGPORT: "x" }, "state-unsuitable", /port/],
    [
      "plain text as a way out",
      { name: "a" },
      { ...variables, PGSSLMODE: "prefer" },
      "state-unsuitable",
      /falls back/,
    ],
    [
      "another host than the manifest's",
      { name: "a", host: "other.example.com" },
      { GRAPHFORM_STATE_POSTGRES_URL: url },
      "state-unsuitable",
      /another host/,
    ],
    [
      "another database than the manifest's",
      { name: "a", database: "staging" },
      { GRAPHFORM_STATE_POSTGRES_URL: url },
      "state-unsuitable",
      /another database/,
    ],
    [
      "a password that is not encoded",
      { name: "a" },
      { GRAPHFORM_STATE_POSTGRES_URL: `postgres://ann:${secret}@db/ops` },
      "state-unsuitable",
      /not a URL|port|no database|parameter/,
    ],
    [
      "a password that is encoded wrongly",
      { name: "a" },
      { GRAPHFORM_STATE_POSTGRES_URL: "postgres://ann:p%zz@db/ops" },
      "state-unsuitable",
      /not a URL/,
    ],
    [
      "an unknown parameter",
      { name: "a" },
      { GRAPHFORM_STATE_POSTGRES_URL: `postgres://db/ops?password=${encodeURIComponent(secret)}` },
      "state-unsuitable",
      /parameter/,
    ],
  ];
  it.each(bad)("are refused: %s", (_why, config, credentials, code, says) => {
    const error = thrownBy(() => connectionSettings(config, credentials));
    expect(isGraphformError(error) && error.code).toBe(code);
    expect(`${error}`).toMatch(says);
    expect(JSON.stringify([`${error}`, error])).not.toContain(secret.slice(0, 4));
  });
});

describe("options of TLS", () => {
  const given = { PGDATABASE: "ops", PGUSER: "bob" };
  const of = (config: Partial<PostgresConfig>): ReturnType<typeof tlsOptions> =>
    tlsOptions(connectionSettings({ name: "a", ...config }, given));

  it("follow libpq's modes", async () => {
    const host = "db.example.com";
    expect(await of({ host, sslmode: "disable" })).toBe(false);
    expect(await of({ host: "/run/postgresql", sslmode: "require" })).toBe(false);
    expect(await of({ host, sslmode: "require" })).toMatchObject({ rejectUnauthorized: false });
    // As with libpq: an authority that is named is used.
    expect(await of({ host, sslmode: "require", sslrootcert: import.meta.filename })).toMatchObject({
      rejectUnauthorized: true,
    });
    expect(await of({ host, sslmode: "verify-ca" })).toHaveProperty("checkServerIdentity");
    expect(await of({ host })).toEqual({ rejectUnauthorized: true });
  });

  it("need the files that are named", async () => {
    await expect(of({ host: "db.example.com", sslrootcert: "/none.pem" })).rejects.toMatchObject({
      code: "state-unsuitable",
      message: "cannot read /none.pem: no such file or directory",
    });
  });
});

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
