import { inspect } from "node:util";
import { expect, it } from "vitest";
import { postgresTrouble } from "../../../../src/state/remote/postgres/connections.ts";

const place = { where: "postgres://db:5432/ops?name=prod", schema: "graphform" };

/** Errors as `pg`, PgBouncer and Node throw them; the texts are theirs. */
const server = (code: string, message = "about SECRET", more: object = {}): Error =>
  Object.assign(new Error(message), { severity: "ERROR", code, detail: "row has SECRET", ...more });
const system = (code: string, message = `connect ${code} SECRET`): Error =>
  Object.assign(new Error(message), { code });

it.each([
  ["a wrong password", server("28P01"), "state-denied"],
  ["no entry in pg_hba.conf", server("28000"), "state-denied"],
  ["no rights", server("42501"), "state-denied"],
  [
    "no password at hand",
    new Error("SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string"),
    "state-denied",
  ],
  ["a pooler without this user", server("08P01", "no such user: SECRET"), "state-denied"],
  ["a pooler that refuses the password", server("08P01", "SASL authentication failed"), "state-denied"],
  ["a pooler without this database", server("08P01", "no such database: SECRET"), "state-unsuitable"],
  [
    "a pooler before a server without it",
    server("08P01", 'database "SECRET" does not exist'),
    "state-unsuitable",
  ],
  ["a pooler whose server is away", server("08P01", "server conn crashed?"), "state-unreachable"],
  ["no table", server("42P01"), "state-unsuitable"],
  ["no schema", server("3F000"), "state-unsuitable"],
  ["no database", server("3D000"), "state-unsuitable"],
  ["a standby", server("25006"), "state-unsuitable"],
  ["a constraint of somebody else", server("23514"), "state-unsuitable"],
  ["a lock that is not given back", server("55P03"), "state-unreachable"],
  ["a server that shuts down", server("57P01"), "state-unreachable"],
  ["a server that starts", server("57P03"), "state-unreachable"],
  ["too many connections", server("53300"), "state-unreachable"],
  ["a full disk", server("53100"), "state-unreachable"],
  ["another isolation level", server("40001"), "state-unreachable"],
  ["nobody who listens", system("ECONNREFUSED"), "state-unreachable"],
  ["a host that nobody knows", system("ENOTFOUND"), "state-unreachable"],
  ["an authority that nobody knows", system("SELF_SIGNED_CERT_IN_CHAIN"), "state-unsuitable"],
  ["a certificate for another name", system("ERR_TLS_CERT_ALTNAME_INVALID"), "state-unsuitable"],
  ["an expired certificate", system("CERT_HAS_EXPIRED"), "state-unsuitable"],
  ["no TLS", new Error("The server does not support SSL connections"), "state-unsuitable"],
  ["no answer", new Error("Query read timeout"), "state-unreachable"],
  ["anything else", "SECRET", "state-unreachable"],
])("words %s without a word of its own", (_what, thrown, code) => {
  const error = postgresTrouble(thrown, place);
  expect(error.code).toBe(code);
  expect(error.message).toMatch(/^the state postgres:\/\/db:5432\/ops\?name=prod: PostgreSQL \S/);
  expect(error.hint).toBeDefined();
  expect(error.cause).toBeUndefined();
  expect(inspect(error, { depth: 20, showHidden: true })).not.toContain("SECRET");
});
