import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, inject, it } from "vitest";
import { rowsOf } from "../../../src/database/replies.ts";
import { compareData } from "../../../src/replace/data/compare-data.ts";
import { copy } from "../../../src/replace/data/copy.ts";
import type { Freeze } from "../../../src/replace/data/freeze.ts";
import { takeInventory } from "../../../src/replace/data/inventory.ts";
import type { Link } from "../../../src/replace/data/link.ts";
import type { Node, Side } from "../../../src/replace/data/nodes.ts";
import { refusalsOfSide } from "../../../src/replace/data/preflight.ts";
import { letWrite, quiesce, readCap } from "../../../src/replace/data/quiesce.ts";
import { Refused } from "../../../src/replace/data/refusals.ts";
import { prepare } from "../../platform/engine/fixture.ts";
import { startWriters, type Writers } from "../../platform/engine/writers.ts";
import { loseGraphList, makeRichGraph, never, run, startSide } from "./databases.ts";

const ground = prepare();

/** Pauses of each database under its writers. */
const rounds = inject("whole") ? 4 : 2;

/** Everything that a test leaves running. */
const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of cleanUp.splice(0).reverse()) await end();
});

function writersOf(port: number, count = 50): Writers {
  const writers = startWriters(Array.from({ length: count }, () => port));
  cleanUp.push(() => writers.stop());
  return writers;
}

/** Brings a database to rest, or fails with the reason. */
async function freeze(side: Side, length = 3000): Promise<Freeze> {
  // A busy machine lets queries wait longer than the usual two seconds.
  const options = { cap: await readCap(side), pause: length, idleWithin: 20_000 };
  const result = await quiesce(side, options, never);
  cleanUp.push(() => result.release());
  return result;
}

function refusalIn(error: unknown): Refused {
  if (error instanceof Refused) return error;
  throw error;
}

async function numbersIn(side: Side): Promise<ReadonlySet<number>> {
  const reply = await side.primary.control.one(["GRAPH.RO_QUERY", "w", "MATCH (n:W) RETURN n.i"]);
  return new Set(rowsOf(reply).map(([number]) => Number(number)));
}

async function hasLost(side: Side, acknowledged: Iterable<number>): Promise<readonly number[]> {
  const there = await numbersIn(side);
  return [...acknowledged].filter((number) => !there.has(number));
}

describe("a pause of writes under 50 writers", () => {
  it.each([
    ["with an append-only file", { aof: "always" }],
    ["with a replica", { nodes: 2 }],
    ["with an append-only file and a replica", { aof: "everysec", nodes: 2 }],
    ["with neither", {}],
  ] as const)("%s ends no server and loses no acknowledged write", async (_, changes) => {
    const { side, database } = await startSide(ground, changes);
    cleanUp.push(side.close);
    await run(side, "GRAPH.CONFIG", "SET", "QUERY_MEM_CAPACITY", "300000000");
    const writers = writersOf(database.port());
    const pids = database.nodes().map(({ pid }) => pid);
    for (let round = 0; round < rounds; round += 1) {
      const seen = writers.acknowledged.size;
      while (writers.acknowledged.size < seen + 100) await pause(5);
      const held = await freeze(side, 6000);
      const before = new Set(writers.acknowledged);
      const there = await numbersIn(side);
      await pause(round === 0 ? 2500 : 200);
      expect(await held.prove()).toBeUndefined();
      expect(await numbersIn(side)).toEqual(there);
      expect([...writers.acknowledged].filter((number) => !before.has(number))).toEqual([]);
      expect(await hasLost(side, before)).toEqual([]);
      expect(await readCap(side)).toBe(300_000_000);
      await held.release();
    }
    await writers.stop();
    expect(await hasLost(side, writers.acknowledged)).toEqual([]);
    expect(database.nodes().map(({ pid }) => pid)).toEqual(pids);
    expect(database.down()).toEqual([]);
  });

  it("lets everything be copied and compared, and executes nothing that waited once it is fenced", async () => {
    const { side: source, database: old } = await startSide(ground, { nodes: 2 });
    const { side: target, database: copied } = await startSide(ground, { nodes: 2 });
    cleanUp.push(source.close, target.close);
    await makeRichGraph(source.primary.control, "g");
    const writers = writersOf(old.port());
    while (writers.acknowledged.size < 300) await pause(5);
    const held = await freeze(source, 12_000);
    const signal = AbortSignal.any([held.lost]);
    const inventory = await takeInventory(source, signal);
    expect(await copy(source, target, { inventory }, signal)).toMatchObject({ keys: 2 });
    expect(await compareData(source, target, { inventory }, signal)).toEqual([]);
    expect(await held.prove()).toBeUndefined();
    await held.endConnections();
    await old.stop();
    held.abandon();
    expect(held.lost.aborted ? held.lost.reason : undefined).toBeUndefined();
    await writers.stop();
    expect(await hasLost(target, writers.acknowledged)).toEqual([]);
    expect(copied.down()).toEqual([]);
  });
});

describe("a pause of writes", () => {
  it("is known as lost once another client ended it, and is not begun again beside writers", async () => {
    const { side, database } = await startSide(ground, { aof: "always" });
    cleanUp.push(side.close);
    const writers = writersOf(database.port());
    while (writers.acknowledged.size < 100) await pause(5);
    const held = await freeze(side, 1500);
    const other = await side.primary.open(never);
    await other.one(["CLIENT", "UNPAUSE"]);
    await expect.poll(() => held.lost.aborted, { timeout: 5000 }).toBe(true);
    expect(await held.prove()).toMatchObject({ code: "freeze-lost" });
    const seen = writers.acknowledged.size;
    while (writers.acknowledged.size < seen + 100) await pause(5);
    expect(database.down()).toEqual([]);
  });

  it("is known as lost after a failover, and the new primary takes no write until it is released", async () => {
    const { side, database } = await startSide(ground, { nodes: 2 });
    cleanUp.push(side.close);
    await run(side, "GRAPH.QUERY", "w", "CREATE (:W {i: 0})");
    const held = await freeze(side, 20_000);
    await database.failover();
    expect(await held.prove()).toMatchObject({ code: "freeze-lost" });
    expect(held.lost.reason).toMatchObject({ name: "Refused" });
  });

  it("is known as lost once the run is interrupted: connections that it has closed itself prove no stop", async () => {
    const { side } = await startSide(ground);
    cleanUp.push(side.close);
    const run = new AbortController();
    const held = await quiesce(side, { cap: await readCap(side), pause: 3000 }, run.signal);
    expect(await held.endConnections()).toBeUndefined();
    run.abort();
    side.close();
    expect(await held.prove()).toMatchObject({ message: "the run was interrupted" });
    expect(await held.release()).toBe(false);
  });

  it("is known as lost when a library is loaded, which no pause holds", async () => {
    const { side } = await startSide(ground);
    cleanUp.push(side.close);
    await run(side, "GRAPH.QUERY", "w", "CREATE (:W {i: 0})");
    const held = await freeze(side, 20_000);
    await run(side, "GRAPH.UDF", "LOAD", "lib", "function f(x) { return x; } falkor.register('f', f);");
    expect(await held.prove()).toMatchObject({ message: expect.stringContaining("libraries") });
  });

  it("is proved by a server that refuses new connections some time before it closes the open ones", async () => {
    const { side } = await startSide(ground);
    cleanUp.push(side.close);
    const { primary } = side;
    let isEnding = false;
    let looks = 0;
    const control: Link = {
      ...primary.control,
      get isOpen() {
        looks += 1;
        // The close of the connection is seen late.
        if (isEnding && looks === 5) side.close();
        return !isEnding || looks < 5;
      },
    };
    const node: Node = {
      ...primary,
      control,
      open: (signal, database) =>
        isEnding ? Promise.reject(new Error("ECONNRESET")) : primary.open(signal, database),
    };
    const slow: Side = { ...side, primary: node, nodes: [node] };
    const held = await freeze(slow);
    expect(await held.endConnections()).toBeUndefined();
    looks = 0;
    isEnding = true;
    expect(await held.prove()).toBeUndefined();
    held.abandon();
  });

  it("is not begun while a query runs, and leaves the database as it was", async () => {
    const { side } = await startSide(ground);
    cleanUp.push(side.close);
    const other = await side.primary.open(never);
    const long = other.all([
      [
        "GRAPH.QUERY",
        "w",
        "UNWIND range(1, 7000) AS i UNWIND range(1, 7000) AS j WITH i, j WHERE j < 0 RETURN i",
      ],
    ]);
    const running = async (): Promise<string> => JSON.stringify(await run(side, "GRAPH.INFO"));
    await expect.poll(running, { interval: 5 }).toContain("range(1, 7000)");
    const result = quiesce(side, { cap: 12_345, idleWithin: 100 }, never);
    await expect(result).rejects.toMatchObject({ name: "Refused", code: "not-idle" });
    expect(await readCap(side)).toBe(12_345);
    expect(await refusalsOfSide(side, "source", never)).toEqual([]);
    await long;
  });

  it("is not begun while a long write runs, which ends with all that it writes", async () => {
    const { side } = await startSide(ground, { aof: "always" });
    cleanUp.push(side.close);
    const other = await side.primary.open(never);
    const text = "UNWIND range(1, 2000000) AS i CREATE (:Long {first: i, second: 'x' + i})";
    const long = other.one(["GRAPH.QUERY", "w", text]);
    const ran = /"Execution duration","(\d+)/;
    const running = async (): Promise<number> =>
      Number(ran.exec(JSON.stringify(await run(side, "GRAPH.INFO")))?.[1] ?? 0);
    await expect.poll(running, { interval: 5 }).toBeGreaterThan(100);
    const hurried = quiesce(side, { cap: 0, settledWithin: 1 }, never);
    await expect(hurried).rejects.toMatchObject({ name: "Refused", code: "not-settled" });
    const frozen = await quiesce(side, { cap: 0 }, never);
    expect(JSON.stringify(await long)).toContain("Nodes created: 2000000");
    await frozen.release();
  });

  it("is not begun before every node has built its constraints, which would end a server with an append-only file", async () => {
    const started = await startSide(ground, { aof: "everysec", nodes: 2 });
    const { side, database } = started;
    cleanUp.push(side.close);
    const [replica] = side.replicas;
    const statusAt = async (node: Node | undefined): Promise<string> =>
      JSON.stringify(await node?.control.one(["GRAPH.RO_QUERY", "w", "CALL db.constraints() YIELD status"]));
    await run(side, "GRAPH.QUERY", "w", "UNWIND range(1, 250000) AS i CREATE (:W {i: i})");
    await run(side, "GRAPH.QUERY", "w", "CREATE INDEX FOR (n:W) ON (n.i)");
    const indexes = ["GRAPH.RO_QUERY", "w", "CALL db.indexes() YIELD status"];
    for (const node of side.nodes)
      await expect
        .poll(async () => JSON.stringify(await node.control.one(indexes)), { timeout: 60_000 })
        .toContain("OPERATIONAL");
    await loseGraphList(started);
    await run(side, ..."GRAPH.CONSTRAINT CREATE w UNIQUE NODE W PROPERTIES 1 i".split(" "));
    while (!(await statusAt(side.primary)).includes("OPERATIONAL")) await pause(1);
    const hurried = await quiesce(side, { cap: 0, settledWithin: 1 }, never).catch(refusalIn);
    if (/CONSTRUCTION/.test(await statusAt(replica))) expect(hurried).toMatchObject({ code: "not-settled" });
    if (!(hurried instanceof Refused)) await hurried.release();
    const held = await freeze(side, 6000);
    expect(await statusAt(replica)).toContain("OPERATIONAL");
    await pause(1500);
    expect(await held.prove()).toBeUndefined();
    expect(database.down()).toEqual([]);
  });

  it("is not begun beside copies of graphs, which would end the server", async () => {
    const { side, database } = await startSide(ground, { aof: "always" });
    cleanUp.push(side.close);
    await run(side, "GRAPH.QUERY", "w", "UNWIND range(1, 3000) AS i CREATE (:W {i: i})");
    const other = await side.primary.open(never);
    let isOver = false;
    const copying = async (): Promise<void> => {
      while (!isOver) {
        await other.one(["GRAPH.COPY", "w", "copied"]);
        await other.one(["GRAPH.DELETE", "copied"]);
      }
    };
    const copied = copying();
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const found = await quiesce(side, { cap: 0, idleWithin: 300 }, never).catch(refusalIn);
      if (found instanceof Refused) expect(found.code).toBe("not-idle");
      else await found.release();
    }
    isOver = true;
    await copied;
    expect(database.down()).toEqual([]);
  });

  it("is not begun beside that of another client", async () => {
    const { side } = await startSide(ground);
    cleanUp.push(side.close);
    await run(side, "CLIENT", "PAUSE", "20000", "WRITE");
    expect(await refusalsOfSide(side, "source", never)).toMatchObject([{ code: "paused-already" }]);
    await run(side, "CLIENT", "UNPAUSE");
  });

  it("ends by itself when its process is gone, and any later run puts the cap back", async () => {
    const { side } = await startSide(ground);
    cleanUp.push(side.close);
    await run(side, "GRAPH.QUERY", "w", "CREATE (:W {i: 0})");
    const held = await freeze(side, 600);
    held.abandon();
    await run(side, "GRAPH.CONFIG", "SET", "QUERY_MEM_CAPACITY", "1");
    await letWrite(side, 0);
    await run(side, "GRAPH.QUERY", "w", "CREATE (:W {i: 1})");
    expect(await numbersIn(side)).toEqual(new Set([0, 1]));
  });
});
