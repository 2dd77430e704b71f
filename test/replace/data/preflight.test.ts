import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { ensureAuthority } from "../../../src/platform/engine/index.ts";
import { compareData } from "../../../src/replace/data/compare-data.ts";
import { copy } from "../../../src/replace/data/copy.ts";
import { makeDurable } from "../../../src/replace/data/durable.ts";
import { type Inventory, takeInventory } from "../../../src/replace/data/inventory.ts";
import { openSide, type Side } from "../../../src/replace/data/nodes.ts";
import { deleteCopyKey } from "../../../src/replace/data/own-copy.ts";
import { refusalsOf, refusalsOfSide } from "../../../src/replace/data/preflight.ts";
import { quiesce, readCap } from "../../../src/replace/data/quiesce.ts";
import { isSameValue } from "../../../src/replace/data/stored-values.ts";
import { asOperator, prepare } from "../../platform/engine/fixture.ts";
import { makeRichGraph, never, run, startSide } from "./databases.ts";

const ground = prepare();
const open: Side[] = [];
afterEach(() => {
  for (const side of open.splice(0)) side.close();
});

const engine = { server: "valkey", version: "8.0.1", module: "4.16.3" };
const graph = { name: "g", nodes: 1, edges: 0, memory: 100_000_000, indexes: [], constraints: [] };
const stored = { number: 0, keys: 1, types: { graphdata: 1 }, graphs: [graph] };
const plain: Inventory = {
  ...{ engine, isCluster: false, isOnDisk: true, took: 0 },
  memory: { used: 200_000_000, max: 1_000_000_000 },
  databases: [stored],
};
const withGraph = (changes: Partial<typeof graph> | object): Inventory => ({
  ...plain,
  databases: [{ ...stored, graphs: [{ ...graph, ...changes }] }],
});
const row = { title: "unique constraint on User [id]", status: "FAILED", definition: "" };
const building = { ...row, status: "UNDER CONSTRUCTION" };

describe("refusalsOf", () => {
  it.each([
    ["nothing", plain, { engine, maxMemory: 1_000_000_000 }, []],
    ["a target that is too small", plain, { maxMemory: 240_000_000 }, ["target-too-small"]],
    [
      "a target that is too small for a dump",
      plain,
      { maxMemory: 900_000_000, largest: 300_000_000 },
      ["target-too-small"],
    ],
    ["a value that is too large", plain, { largest: 400_000_001 }, ["value-too-large", "source-memory"]],
    [
      "a graph that is too large to try",
      withGraph({ memory: 2e9 }),
      {},
      ["value-too-large", "source-memory"],
    ],
    ["a failed constraint", withGraph({ constraints: [row] }), {}, ["constraint-failed"]],
    ["a constraint under construction", withGraph({ constraints: [building] }), {}, ["under-construction"]],
    ["an index under construction", withGraph({ indexes: [building] }), {}, ["under-construction"]],
    ["another major version", plain, { engine: { ...engine, version: "9.0.0" } }, ["engine-across-majors"]],
    ["another server", plain, { engine: { ...engine, server: "redis" } }, ["engine-across-majors"]],
    ["an older module", plain, { engine: { ...engine, module: "4.9.9" } }, ["engine-older"]],
    ["a newer module", plain, { engine: { ...engine, module: "4.18.0" } }, []],
    [
      "a type of another module",
      { ...plain, databases: [{ ...stored, types: { "ReJSON-RL": 2 } }] },
      {},
      ["key-type"],
    ],
    ["a cluster", { ...plain, isCluster: true }, {}, ["cluster"]],
    ["a new database that is a cluster", plain, { isCluster: true }, ["cluster"]],
  ])("names %s", (_, source, target, codes) => {
    const found = refusalsOf(source, target);
    expect(found.map(({ code }) => code)).toEqual(codes);
    for (const { message, hint } of found) expect([message, hint].join()).not.toMatch(/undefined|NaN/);
  });
});

describe("refusalsOfSide", () => {
  it("finds nothing for the user of a database, on both sides", async () => {
    const { side } = await startSide(ground, { nodes: 2 });
    open.push(side);
    expect(await refusalsOfSide(side, "source", never)).toEqual([]);
    expect(await refusalsOfSide(side, "target", never)).toEqual([]);
  });

  it("names each command that a user may not run, and a replica that is not among the nodes", async () => {
    const { side, spec, database } = await startSide(ground, { nodes: 2 });
    open.push(side);
    const rules = "~* +@all -client|pause -client|unpause -dump -del -restore";
    await asOperator(spec, database, ["ACL", "SETUSER", "weak", "on", ">secret", ...rules.split(" ")]);
    const weak = await openSide(
      [{ host: database.host, port: database.port(), username: "weak", password: "secret" }],
      never,
    );
    open.push(weak);
    const found = await refusalsOfSide(weak, "source", never);
    expect(found.map(({ code, message }) => `${code}: ${message.replace(/ at .*/, "")}`)).toEqual([
      "right-missing: the user may not run CLIENT PAUSE",
      "right-missing: the user may not run DUMP graphform:no-such-key",
      "right-missing: the user may not run CLIENT UNPAUSE",
      "unknown-replica: the primary has 1 replicas, and 0 are among the nodes that the service lists",
      "right-missing: the user may not run DEL, by which a pause of writes is proved",
    ]);
  });

  it("takes stock of a database whose queue of queries is full", async () => {
    const { side } = await startSide(ground);
    open.push(side);
    await run(side, "GRAPH.QUERY", "g", "CREATE (:N {i: 1})");
    await run(side, "GRAPH.CONFIG", "SET", "MAX_QUEUED_QUERIES", "1");
    const links = await Promise.all(Array.from({ length: 20 }, () => side.primary.open(never)));
    const busy = links.map((link) =>
      link.one(["GRAPH.QUERY", "g", "UNWIND range(1, 1000000) AS i WITH i WHERE i < 0 RETURN i"]),
    );
    const { databases } = await takeInventory(side, never);
    expect(databases[0]?.graphs).toMatchObject([{ name: "g", nodes: 1 }]);
    await Promise.all(busy);
  });

  it("looks at no more keys than it is told", async () => {
    const { side, spec, database } = await startSide(ground);
    open.push(side);
    const keys = Array.from({ length: 1300 }, (_, key) => [`key ${key}`, "x"]);
    await asOperator(spec, database, ["MSET", ...keys.flat()]);
    const some = await takeInventory(side, never, 100);
    expect(some.databases[0]?.keys).toBeLessThan(1300);
    expect((await takeInventory(side, never)).databases[0]?.keys).toBe(1300);
  });

  it("finds a constraint that failed in a real graph", async () => {
    const { side } = await startSide(ground);
    open.push(side);
    await run(side, "GRAPH.QUERY", "g", "CREATE (:N {i: 1}), (:N {i: 1})");
    await run(side, "GRAPH.QUERY", "g", "CREATE INDEX FOR (n:N) ON (n.i)");
    await run(side, "GRAPH.CONSTRAINT", "CREATE", "g", "UNIQUE", "NODE", "N", "PROPERTIES", "1", "i");
    const refusals = async (): Promise<string> =>
      refusalsOf(await takeInventory(side, never), {})
        .map(({ message }) => message)
        .join();
    await expect.poll(refusals).toBe("the unique constraint on N [i] in graph g is failed");
  });
});

describe("a target", () => {
  it("over TLS with replicas gets everything, and keeps it", async () => {
    const tls = await ensureAuthority(join(ground.folder, "ca"));
    const source = await startSide(ground, { tls, nodes: 2 });
    const target = await startSide(ground, { tls, nodes: 2, aof: "always", maxMemoryBytes: 500_000_000 });
    open.push(source.side, target.side);
    await makeRichGraph(source.side.primary.control, "g");
    const frozen = await quiesce(source.side, { cap: await readCap(source.side) }, never);
    const inventory = await takeInventory(source.side, never);
    expect(await copy(source.side, target.side, { inventory }, frozen.lost)).toMatchObject({ keys: 1 });
    expect(await compareData(source.side, target.side, { inventory }, frozen.lost)).toEqual([]);
    expect(await makeDurable(target.side, deleteCopyKey)).toBeUndefined();
    await frozen.release();
  });

  it("is refused once it is too full", async () => {
    const maxMemoryBytes = 40_000_000;
    const { side, spec, database } = await startSide(ground, { maxMemoryBytes });
    open.push(side);
    const used = async (): Promise<number> =>
      Number(/used_memory:(\d+)/.exec(String(await asOperator(spec, database, ["INFO", "memory"])))?.[1]);
    for (let part = 0; (await used()) < 0.85 * maxMemoryBytes; part += 1)
      await asOperator(spec, database, ["SET", `text ${part}`, "x".repeat(1_000_000)]);
    await expect(makeDurable(side, deleteCopyKey)).rejects.toMatchObject({ code: "target-too-full" });
  });
});

describe("isSameValue", () => {
  const dump = (...bytes: readonly number[]): Buffer => Buffer.from([...bytes, ...new Uint8Array(10)]);
  it.each([
    ["two orders of a set", dump(2, 2, 1, 97, 1, 98), dump(2, 2, 1, 98, 1, 97), true],
    ["two sets", dump(2, 2, 1, 97, 1, 98), dump(2, 2, 1, 98, 1, 99), false],
    [
      "fields with each other's values",
      dump(4, 2, 1, 97, 1, 49, 1, 98, 1, 50),
      dump(4, 2, 1, 97, 1, 50, 1, 98, 1, 49),
      false,
    ],
    ["two orders of numbers", dump(2, 2, 0xc0, 5, 0xc1, 1, 2), dump(2, 2, 0xc1, 1, 2, 0xc0, 5), true],
    ["two orders of a list", dump(18, 2, 1, 97, 1, 98), dump(18, 2, 1, 98, 1, 97), false],
  ])("tells %s", (_, a, b, isSame) => {
    expect(isSameValue(a, b)).toBe(isSame);
  });
});
