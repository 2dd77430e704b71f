/** @module Makes the tables of a state in PostgreSQL, and finds out whether they can keep one safely. */
import { randomBytes } from "node:crypto";
import { GraphformError } from "../../../model/errors.ts";
import type { Holder } from "../../store.ts";
import type { Connections, Row, Run } from "./connections.ts";
import { numberOf, write } from "./documents.ts";
import { take } from "./lease.ts";
import { type Place, postgresTrouble } from "./postgres-trouble.ts";
import { creation, inspection, type Tables } from "./tables.ts";

/** Makes what is missing and tries it; may run at the same time elsewhere. Rejects as `probe` does. */
export async function prepare({ run, attempt }: Connections, tables: Tables, place: Place): Promise<void> {
  const { hasSchema, hasTables } = await inspect(run, tables, place);
  if (hasTables !== true) await run(creation(tables, hasSchema === true));
  await probe(run, tables, place);
  await attempt((run) => rehearse(run, tables, place));
}

/** Looks whether server, tables and rights are those that a state needs. Rejects with `state-unsuitable`, `state-denied`. */
export async function probe(run: Run, tables: Tables, place: Place): Promise<void> {
  const { hasTables, mayUse } = await inspect(run, tables, place);
  if (hasTables !== true) throw postgresTrouble(sqlState("42P01"), place);
  if (mayUse !== true) throw postgresTrouble(sqlState("42501"), place);
}

async function inspect(run: Run, tables: Tables, { where }: Place): Promise<Row> {
  const [row] = await run(inspection, [tables.schema, tables.states, tables.versions, tables.locks]);
  const refuse = (what: string, hint: string): GraphformError =>
    new GraphformError("state-unsuitable", `the state ${where}: PostgreSQL ${what}`, { hint });
  if (row === undefined) throw refuse("answers nothing that makes sense", "name a PostgreSQL server");
  if (numberOf(row, "release") < 120_000) throw refuse("is older than 12", "use a newer one");
  if (row["standby"] === true)
    throw refuse("takes no writes: it is a standby, or the user may only read", "name the primary");
  if (row["encoding"] !== "UTF8")
    throw refuse("does not keep texts as UTF8", "use a database with the encoding UTF8");
  return row;
}

/** Goes through a lock and writes under a name of its own, in a transaction that is rolled back. */
async function rehearse(run: Run, tables: Tables, { where }: Place): Promise<void> {
  const id = randomBytes(8).toString("hex");
  const name = `rehearsal ${id}`;
  const time = new Date(0).toISOString();
  const expires = new Date(60_000).toISOString();
  const about = { who: "graphform", pid: 1, host: "here", operation: "state init", created: time };
  const holder: Holder = { ...about, id, heartbeat: time, expires };
  const taken = await take(run, tables, name, holder);
  const other = await take(run, tables, name, { ...holder, id: `${id}0` });
  if (taken.is !== "taken" || other.is !== "held") throw unsafe(where, "two holders got one lock");
  const { lease } = taken;
  const version = { text: "{}", expected: undefined, lease, keep: 1 };
  const first = await write(run, tables, name, version);
  if (first.is !== "written") throw unsafe(where, "a write had no effect");
  const stale = await write(run, tables, name, version);
  const expected = first.version;
  const fenced = { ...version, expected, lease: { ...lease, token: "0" } };
  if (stale.is !== "stale" || (await write(run, tables, name, fenced)).is !== "stale")
    throw unsafe(where, "a write that should have been refused was done");
}

function unsafe(where: string, what: string): GraphformError {
  return new GraphformError("state-unsuitable", `the state ${where}: in a rehearsal ${what}`, {
    hint: "the tables have rules or triggers of somebody else; name another schema with state.schema",
  });
}

function sqlState(code: string): Error {
  return Object.assign(new Error(code), { code, severity: "ERROR" });
}
