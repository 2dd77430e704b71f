import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import type { Database } from "../../../src/platform/engine/database.ts";
import type { DatabaseSpec } from "../../../src/platform/engine/spec.ts";
import type { Link } from "../../../src/replace/data/link.ts";
import { openSide, type Side } from "../../../src/replace/data/nodes.ts";
import { asOperator, type Ground, secret } from "../../platform/engine/fixture.ts";

export const never: AbortSignal = new AbortController().signal;

export interface StartedSide {
  readonly side: Side;
  readonly database: Database;
  readonly spec: DatabaseSpec;
}

/** Starts a database, and connects to all of its nodes as the tenant. It has no append-only file unless the changes name one. */
export async function startSide(ground: Ground, changes: Partial<DatabaseSpec> = {}): Promise<StartedSide> {
  const { aof: _, ...plain } = ground.spec();
  const spec: DatabaseSpec = { ...plain, ...changes };
  const database = await ground.engine.start(spec);
  const targets = database.nodes().map(({ port }) => ({
    host: database.host,
    port,
    username: "tenant",
    password: secret,
    ...(spec.tls === undefined ? {} : { tls: { caFile: spec.tls.caFile } }),
  }));
  return { side: await openSide(targets, never), database, spec };
}

/** Runs a query, or a command of any other kind. */
export async function run({ primary }: Side, ...command: readonly (string | Buffer)[]): Promise<unknown> {
  return primary.control.one(command);
}

/** Makes a graph with every kind of value, index and constraint, and waits until they are operational. */
export async function makeRichGraph(link: Link, name: string): Promise<void> {
  const query = (text: string): Promise<unknown> => link.one(["GRAPH.QUERY", name, text]);
  await query(`UNWIND range(1, 300) AS i
    CREATE (:User:Person {id: i, email: 'u' + i, score: i / 7.0, at: point({latitude: i / 10.0, longitude: 1.5}),
      born: date('2001-02-03'), tags: ['a', i], v: vecf32([i / 3.0, 1.0, 2.0]), ok: i % 2 = 0, bio: 'text about ' + i})`);
  await query(`MATCH (a:User), (b:User) WHERE b.id = a.id + 1
    CREATE (a)-[:KNOWS {since: a.id, weight: a.id / 3.0}]->(b)`);
  await query("MATCH (n:User) WHERE n.id % 10 = 0 DETACH DELETE n");
  for (const index of [
    "CREATE INDEX FOR (n:User) ON (n.id, n.at)",
    "CREATE INDEX FOR ()-[e:KNOWS]-() ON (e.since)",
    "CREATE FULLTEXT INDEX FOR (n:Person) ON (n.bio)",
    "CREATE VECTOR INDEX FOR (n:User) ON (n.v) OPTIONS {dimension: 3, similarityFunction: 'euclidean'}",
    "CREATE INDEX FOR (n:User) ON (n.email)",
  ])
    await query(index);
  const constraint = (...words: readonly string[]): Promise<unknown> =>
    link.one(["GRAPH.CONSTRAINT", "CREATE", name, ...words]);
  await constraint("UNIQUE", "NODE", "User", "PROPERTIES", "1", "email");
  await constraint("MANDATORY", "NODE", "User", "PROPERTIES", "1", "id");
  await constraint("MANDATORY", "RELATIONSHIP", "KNOWS", "PROPERTIES", "1", "since");
  for (let tries = 0; tries < 500; tries += 1) {
    const schema = JSON.stringify([
      await link.one(["GRAPH.RO_QUERY", name, "CALL db.indexes() YIELD status"]),
      await link.one(["GRAPH.RO_QUERY", name, "CALL db.constraints() YIELD status"]),
    ]);
    if (!/CONSTRUCTION|PENDING/.test(schema)) return;
    await pause(10);
  }
  throw new Error(`graph ${name} is not operational`);
}

/** Makes the engine's own list of graphs empty, though all are there. It may be after a crash; emptying another database does it always. */
export async function loseGraphList({ spec, database, side }: StartedSide): Promise<void> {
  await asOperator(spec, database, ["EVAL", "redis.call('SELECT', 9) return redis.call('FLUSHDB')", "0"]);
  expect(await side.primary.control.one(["GRAPH.LIST"])).toEqual([]);
}
