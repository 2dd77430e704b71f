import { beforeAll, describe, expect, it } from "vitest";
import { compareData } from "../../../src/replace/data/compare-data.ts";
import { copy } from "../../../src/replace/data/copy.ts";
import { makeDurable } from "../../../src/replace/data/durable.ts";
import { graphOf, type Inventory, takeInventory, totalsOf } from "../../../src/replace/data/inventory.ts";
import type { Side } from "../../../src/replace/data/nodes.ts";
import { setCopyKey } from "../../../src/replace/data/own-copy.ts";
import { refusalsOf, refusalsOfSide } from "../../../src/replace/data/preflight.ts";
import type { Progress } from "../../../src/replace/data/progress.ts";
import { rehearse } from "../../../src/replace/data/rehearse.ts";
import { asOperator, prepare } from "../../platform/engine/fixture.ts";
import { loseGraphList, makeRichGraph, never, run, startSide } from "./databases.ts";

const ground = prepare();

describe("copy and verify", () => {
  let source: Side;
  let target: Side;
  let original: Awaited<ReturnType<typeof startSide>>;
  let copied: Awaited<ReturnType<typeof startSide>>;
  let inventory: Inventory;
  const check = (): Promise<readonly string[]> => compareData(source, target, { inventory }, never);

  beforeAll(async () => {
    original = await startSide(ground);
    copied = await startSide(ground, { aof: "always" });
    [source, target] = [original.side, copied.side];
    const admin = (...command: readonly string[]): Promise<unknown> =>
      asOperator(original.spec, original.database, command);
    await makeRichGraph(source.primary.control, "g");
    await run(source, "GRAPH.QUERY", "empty", "RETURN 1");
    const other = await source.primary.open(never, 3);
    await makeRichGraph(other, "other");
    await other.one(["GRAPH.QUERY", "other", "CREATE (:Only {here: 1})"]);
    other.close();
    await run(source, "GRAPH.UDF", "LOAD", "lib", "function f(x) { return x + 1; } falkor.register('f', f);");
    await run(source, "GRAPH.CONFIG", "SET", "TIMEOUT_MAX", "45000", "TIMEOUT_DEFAULT", "30000");
    await admin("SET", "text", "x".repeat(50_000));
    await admin("SET", "number", "12", "PX", "5000000");
    await admin("RPUSH", "list", ...Array.from({ length: 400 }, (_, i) => `item ${i}`));
    await admin("SADD", "set", ...Array.from({ length: 700 }, (_, i) => `member ${i} ${"x".repeat(i % 70)}`));
    await admin("HSET", "hash", ...Array.from({ length: 1400 }, (_, i) => `word ${i}`));
    await admin(
      "ZADD",
      "sorted",
      ...Array.from({ length: 600 }, (_, i) => (i % 2 === 0 ? String(i / 7) : `m${i}`)),
    );
    await admin("XADD", "stream", "*", "field", "value");
    await admin("EXPIRE", "g", "100000");
    inventory = await takeInventory(source, never);
  }, 60_000);

  it("counts what there is", () => {
    expect(totalsOf(inventory)).toEqual({ databases: 2, keys: 10, graphs: 3, nodes: 541, edges: 480 });
    expect(inventory).toMatchObject({
      engine: { server: "valkey", version: expect.any(String), module: expect.stringMatching(/^4\./) },
    });
    const [first] = inventory.databases;
    expect(first).toMatchObject({
      number: 0,
      types: { graphdata: 2, string: 2, hash: 1, stream: 1 },
    });
    const graph = first?.graphs.find(({ name }) => name === "g");
    expect(graph?.constraints.map(({ title, status }) => `${title}: ${status}`).sort()).toEqual([
      "mandatory constraint on KNOWS [since]: OPERATIONAL",
      "mandatory constraint on User [id]: OPERATIONAL",
      "unique constraint on User [email]: OPERATIONAL",
    ]);
    expect(graph?.indexes.map(({ title }) => title).join("; ")).toMatch(/VECTOR.*/);
  });

  it("finds the same on both sides after a copy, and again after a second one", async () => {
    const steps: Progress[] = [];
    for (let time = 0; time < 2; time += 1) {
      const result = await copy(source, target, { inventory, onProgress: (step) => steps.push(step) }, never);
      expect(result).toMatchObject({ keys: 10 });
      expect(await check()).toEqual([]);
    }
    expect(steps.at(-1)).toMatchObject({ keys: { done: 10, of: 10 }, left: 0 });
    expect(await makeDurable(target, setCopyKey)).toBeUndefined();
  });

  const alterations: readonly (readonly [
    what: string,
    commands: readonly (readonly string[])[],
    found: RegExp,
  ])[] = [
    [
      "one float",
      [["GRAPH.QUERY", "g", "MATCH (n:User {id: 3}) SET n.score = n.score + 0.001"]],
      /^node 2 of graph g/,
    ],
    ["a label", [["GRAPH.QUERY", "g", "MATCH (n:User {id: 3}) SET n:Extra"]], /^node 2 of graph g/],
    [
      "one edge turned round",
      [
        [
          "GRAPH.QUERY",
          "g",
          "MATCH (a:User {id: 3})-[e:KNOWS]->(b) DELETE e CREATE (b)-[:KNOWS {since: 3, weight: 1.0}]->(a)",
        ],
      ],
      /^edge 2 of graph g/,
    ],
    [
      "a node less",
      [["GRAPH.QUERY", "g", "MATCH (n:User {id: 3}) DETACH DELETE n"]],
      /^node 2 of graph g is missing/,
    ],
    [
      "a node more",
      [["GRAPH.QUERY", "g", "CREATE (:User {id: 1000, email: 'x'})"]],
      /exists only in the new/,
    ],
    ["one index less", [["GRAPH.QUERY", "g", "DROP INDEX ON :User(at)"]], /lacks the index on User/],
    [
      "one constraint less",
      [["GRAPH.CONSTRAINT", "DROP", "g", "MANDATORY", "NODE", "User", "PROPERTIES", "1", "id"]],
      /lacks the mandatory constraint on User \[id\]/,
    ],
    [
      "a member of a set",
      [
        ["SREM", "set", "member 1 x"],
        ["SADD", "set", "member 1 y"],
      ],
      /key set .* another value/,
    ],
    ["a field of a hash", [["HSET", "hash", "word 4", "x"]], /key hash .* another value/],
    ["an end", [["PERSIST", "number"]], /key number .* ends at another time/],
    ["a key less", [["DEL", "text"]], /key text .* is missing/],
    ["a key more", [["SET", "more", "1"]], /key more .* only in the new/],
    ["a library", [["GRAPH.UDF", "FLUSH"]], /the libraries/],
    ["a parameter", [["GRAPH.CONFIG", "SET", "TIMEOUT_DEFAULT", "20000"]], /TIMEOUT_DEFAULT is 30000 only/],
  ];
  it.each(alterations)("finds %s", async (_, commands, found) => {
    await copy(source, target, { inventory }, never);
    for (const command of commands) await asOperator(copied.spec, copied.database, command);
    const differences = await check();
    expect(differences.join("\n")).toMatch(new RegExp(found.source, "m"));
  });

  it("finds everything though answers are cut and single nodes have many edges", async () => {
    await run(
      source,
      "GRAPH.QUERY",
      "hub",
      "CREATE (h:Hub) WITH h UNWIND range(1, 300) AS i CREATE (h)-[:R {i: i}]->(:Leaf)",
    );
    await run(source, "GRAPH.CONFIG", "SET", "RESULTSET_SIZE", "50");
    try {
      const all = await takeInventory(source, never);
      await copy(source, target, { inventory: all }, never);
      const seen: Progress[] = [];
      const options = { inventory: all, onProgress: (step: Progress) => seen.push(step) };
      expect(await compareData(source, target, options, never)).toEqual([]);
      const { nodes, edges, keys } = totalsOf(all);
      expect(seen.at(-1)).toMatchObject({ keys: { done: keys, of: keys }, amount: nodes + edges, left: 0 });
      expect(edges).toBe(780);
      await run(target, "GRAPH.QUERY", "hub", "MATCH ()-[e:R {i: 217}]->() SET e.i = 218");
      expect(await compareData(source, target, { inventory: all }, never)).toEqual([
        "edge 216 of graph hub is not the same",
      ]);
    } finally {
      await run(source, "GRAPH.CONFIG", "SET", "RESULTSET_SIZE", "-1");
      await run(source, "GRAPH.DELETE", "hub");
    }
  });

  it("carries a stream that is called as telemetry of a graph that does not exist, and leaves that of a graph out", async () => {
    const at = (side: typeof copied, ...command: readonly string[]): Promise<unknown> =>
      asOperator(side.spec, side.database, command);
    const streams = ["telemetry{gone}", "telemetry{other}"] as const;
    for (const stream of streams) await at(original, "XADD", stream, "*", "written", "by hand");
    await loseGraphList(original);
    try {
      await copy(source, target, { inventory }, never);
      const entries = streams.map((stream) => at(copied, "XRANGE", stream, "-", "+"));
      const [ofNone, ofGraph] = (await Promise.all(entries)).map((found) => JSON.stringify(found));
      expect([ofNone, ofGraph]).toEqual([
        expect.stringContaining("by hand"),
        expect.not.stringContaining("by hand"),
      ]);
      expect(await check()).toEqual([]);
      await at(copied, "DEL", "telemetry{gone}");
      expect(await check()).toEqual(["key telemetry{gone} of database 0 is missing in the new database"]);
    } finally {
      await at(original, "DEL", ...streams);
    }
  });

  it("passes over a graph that is gone once it is read", async () => {
    expect(await graphOf(source.primary.control, Buffer.from("gone"))).toBeUndefined();
    expect(await graphOf(source.primary.control, Buffer.from("empty"))).toMatchObject({ nodes: 0 });
    await expect(graphOf(source.primary.control, Buffer.from("text"))).rejects.toThrow("graph text: ");
  });

  it("loses no key of the names by which it tests a pause and a disk", async () => {
    const names = ["graphform:marker", "graphform:no-such-key"];
    const at = (side: typeof copied, ...command: readonly string[]): Promise<unknown> =>
      asOperator(side.spec, side.database, command);
    for (const name of names) await at(original, "SET", name, "of a user");
    try {
      expect(await refusalsOfSide(source, "source", never)).toEqual([]);
      await copy(source, target, { inventory }, never);
      expect(await makeDurable(target, setCopyKey)).toBeUndefined();
      for (const side of [original, copied])
        expect(await at(side, "MGET", ...names)).toEqual(["of a user", "of a user"]);
    } finally {
      await at(original, "DEL", ...names);
    }
  });

  it("measures a rehearsal, and empties the new database", async () => {
    expect(await rehearse(source, target, { inventory }, never)).toMatchObject({
      bytes: expect.any(Number),
      largest: expect.any(Number),
    });
    expect((await takeInventory(target, never)).databases).toEqual([]);
    expect((await takeInventory(source, never)).databases).toHaveLength(2);
  });

  it("refuses two graphs of one name in two databases, which the engine cannot restore", async () => {
    const other = await source.primary.open(never, 5);
    await other.one(["GRAPH.QUERY", "g", "RETURN 1"]);
    try {
      expect(refusalsOf(await takeInventory(source, never), {})).toMatchObject([
        { code: "graph-name-twice" },
      ]);
      await expect(copy(source, target, { inventory }, never)).rejects.toMatchObject({
        code: "graph-name-twice",
      });
      expect(await run(target, "PING")).toBe("PONG");
    } finally {
      await other.one(["GRAPH.DELETE", "g"]);
      other.close();
    }
  });

  it("refuses to empty the database that it copies from", async () => {
    await expect(copy(source, source, { inventory }, never)).rejects.toMatchObject({ code: "not-a-copy" });
    expect(totalsOf(await takeInventory(source, never)).keys).toBe(10);
  });
});
