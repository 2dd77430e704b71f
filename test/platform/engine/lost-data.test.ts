import { cp, readdir, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Database } from "../../../src/platform/engine/database.ts";
import type { DatabaseSpec } from "../../../src/platform/engine/spec.ts";
import { ask, countNodes, fill, kill, prepare, processesIn, until } from "./fixture.ts";

const ground = prepare();

const nodes = 20;

/** Every write is on the disk when it is acknowledged: nothing but the damage takes any away. */
const always = { aof: "always" } as const;

/** What happens to the data folder of a node. */
type Damage = (data: string) => Promise<void>;

async function incremental(data: string): Promise<string> {
  const folder = join(data, "appendonlydir");
  const name = (await readdir(folder)).find((each) => each.endsWith(".incr.aof"));
  return join(folder, name ?? "none");
}

const damages: readonly (readonly [string, Damage])[] = [
  ["its data folder removed", (data) => rm(data, { recursive: true })],
  ["its whole folder removed", (data) => rm(join(data, ".."), { recursive: true })],
  [
    "its files removed",
    async (data) => {
      for (const name of await readdir(data)) await rm(join(data, name), { recursive: true });
    },
  ],
  ["its append-only folder removed", (data) => rm(join(data, "appendonlydir"), { recursive: true })],
  ["its list of files removed", (data) => rm(join(data, "appendonlydir", "appendonly.aof.manifest"))],
  ["its append-only file emptied", async (data) => truncate(await incremental(data), 0)],
  [
    "its append-only file cut short",
    async (data) => {
      const file = await incremental(data);
      await truncate(file, (await stat(file)).size - 7);
    },
  ],
  [
    "its append-only file overwritten",
    async (data) => writeFile(await incremental(data), "nonsense\n".repeat(9)),
  ],
];

/** A database with a replica in sync, and 20 nodes in its graph, written one by one. */
async function filled(spec: DatabaseSpec): Promise<Database> {
  const database = await ground.engine.start(spec);
  for (let each = 0; each < nodes; each += 1) await fill(database, 1);
  for (const { port } of database.nodes())
    await until(async () => (await countNodes(database, { port }).catch(() => 0)) === nodes);
  return database;
}

function dataOf(spec: DatabaseSpec, index: number): string {
  return join(spec.dir, `node-${index}`, "data");
}

describe("the node that has the data is the primary", () => {
  it.each(damages)("where the primary is killed with %s, and its replica runs", async (what, damage) => {
    const spec = ground.spec({ nodes: 2 });
    const database = await filled(spec);
    const [primary] = database.nodes();
    await damage(dataOf(spec, 0));
    await kill(primary?.pid);
    await database.revive();
    expect(await countNodes(database)).toBe(nodes);
    // What starts with the files that it has got its data from its replica, and is primary again.
    expect(database.nodes()[0]?.id).toBe(what.endsWith("emptied") ? "node-0" : "node-1");
    expect(await database.ping()).toBe(true);
    await fill(database, 1);
    const [, replica] = database.nodes();
    await until(async () => (await countNodes(database, { port: replica?.port ?? 0 })) === nodes + 1);
    await ground.engine.destroy(spec.dir);
  });

  // Which node has the data is found out as above: here by its files alone.
  it.each(damages.filter(([what], at) => at % 2 === 0 || what.endsWith("emptied")))(
    "where both are killed, the primary with %s",
    async (what, damage) => {
      const spec = ground.spec({ nodes: 2, ...always });
      const database = await filled(spec);
      for (const { pid } of database.nodes()) await kill(pid);
      await damage(dataOf(spec, 0));
      const told: string[] = [];
      const again = await ground.engine.start(spec, undefined, { notify: (what) => told.push(what) });
      expect(await countNodes(again)).toBe(nodes);
      expect(again.nodes()[0]?.id).toBe(what.endsWith("emptied") ? "node-0" : "node-1");
      expect(told.join()).toMatch(/node-0|node-1/);
      expect(await again.ping()).toBe(true);
      await ground.engine.destroy(spec.dir);
    },
  );

  // What a replica has lost it gets from its primary, whatever that was: a folder and a file.
  it.each(damages.filter((_, at) => at % 4 === 1))(
    "where both are killed, the replica with %s",
    async (_, damage) => {
      const spec = ground.spec({ nodes: 2, ...always });
      const database = await filled(spec);
      for (const { pid } of database.nodes()) await kill(pid);
      await damage(dataOf(spec, 1));
      const again = await ground.engine.start(spec);
      expect(again.nodes().map(({ id }) => id)).toEqual(["node-0", "node-1"]);
      for (const { port } of again.nodes()) expect(await countNodes(again, { port })).toBe(nodes);
      await ground.engine.destroy(spec.dir);
    },
  );

  it("where the record of the database is gone: the nodes' data say who was primary", async () => {
    const spec = ground.spec({ nodes: 2, ...always });
    const database = await filled(spec);
    await database.failover();
    await fill(database, 1);
    for (const { pid } of database.nodes()) await kill(pid);
    await rm(join(spec.dir, "database.json"));
    const again = await ground.engine.start(spec);
    expect(again.nodes()[0]?.id).toBe("node-1");
    expect(await countNodes(again)).toBe(nodes + 1);
  });

  it("and a database that was never written to keeps its primary", async () => {
    const spec = ground.spec({ nodes: 2, ...always });
    const database = await ground.engine.start(spec);
    for (const { pid } of database.nodes()) await kill(pid);
    const again = await ground.engine.start(spec);
    expect(again.nodes()).toMatchObject(database.nodes().map(({ id, port, role }) => ({ id, port, role })));
  });

  it("and one that was emptied by its clients stays empty", async () => {
    const spec = ground.spec({ nodes: 2, ...always });
    const database = await filled(spec);
    await ask(database, ["GRAPH.DELETE", "g"]);
    await kill(database.nodes()[0]?.pid);
    await database.revive();
    expect(await ask(database, ["DBSIZE"])).toBe(0);
    expect(database.nodes()[0]?.id).toBe("node-0");
  });
});

describe("a database that had data never starts without them", () => {
  const gone = damages.slice(0, 5);
  it.each(gone)("alone, with %s", async (_, damage) => {
    const spec = ground.spec(always);
    await filled(spec).then((database) => kill(database.nodes()[0]?.pid));
    await cp(join(spec.dir, "node-0"), join(spec.dir, "kept"), { recursive: true });
    await damage(dataOf(spec, 0));
    await expect(ground.engine.start(spec)).rejects.toThrow(/the data of node-0 are gone.*put them back/);
    expect(await processesIn(spec.dir)).toEqual([]);
    await rm(join(spec.dir, "node-0"), { recursive: true, force: true });
    await rename(join(spec.dir, "kept"), join(spec.dir, "node-0"));
    expect(await countNodes(await ground.engine.start(spec))).toBe(nodes);
  });

  it("alone, with its append-only file overwritten: the server's own words say so", async () => {
    const spec = ground.spec(always);
    await filled(spec).then((database) => kill(database.nodes()[0]?.pid));
    await writeFile(await incremental(dataOf(spec, 0)), "nonsense\n".repeat(9));
    await expect(ground.engine.start(spec)).rejects.toThrow(/did not start: .*Bad file format/);
    expect(await processesIn(spec.dir)).toEqual([]);
  });

  it("alone, with its append-only file cut short: what is there is served, and that is told", async () => {
    const spec = ground.spec(always);
    await filled(spec).then((database) => kill(database.nodes()[0]?.pid));
    const file = await incremental(dataOf(spec, 0));
    await truncate(file, (await stat(file)).size - 7);
    const told: string[] = [];
    const again = await ground.engine.start(spec, undefined, { notify: (what) => told.push(what) });
    expect(await countNodes(again)).toBe(nodes - 1);
    expect(told.join()).toContain("the append-only file of node-0 was cut short");
    const third = await ground.engine.start(spec);
    expect(third.nodes()).toEqual(again.nodes());
  });

  it.each(gone.slice(-2))("with both nodes damaged: %s", async (_, damage) => {
    const spec = ground.spec({ nodes: 2, ...always });
    const database = await filled(spec);
    for (const { pid } of database.nodes()) await kill(pid);
    for (const index of [0, 1]) await damage(dataOf(spec, index));
    await expect(ground.engine.start(spec)).rejects.toThrow(/the data of node-0 and node-1 are gone/);
    expect(await processesIn(spec.dir)).toEqual([]);
  });

  it("nor with what a replica had when the primary went on without it, unless a failover says so", async () => {
    const spec = ground.spec({ nodes: 2, ...always });
    const database = await filled(spec);
    await kill(database.nodes()[1]?.pid);
    // What keeps the replica from coming back.
    const aside = `${dataOf(spec, 1)}.away`;
    await rename(dataOf(spec, 1), aside);
    await writeFile(dataOf(spec, 1), "in the way");
    await database.revive();
    expect(database.trouble()?.message).toMatch(/^replica node-1: /);
    expect(database.down().map(({ id }) => id)).toEqual(["node-1"]);
    await fill(database, 1);
    await rm(dataOf(spec, 1));
    await rename(aside, dataOf(spec, 1));
    await kill(database.nodes()[0]?.pid);
    await rename(dataOf(spec, 0), `${dataOf(spec, 0)}.away`);
    await expect(ground.engine.start(spec)).rejects.toThrow(/node-1 lacks the latest writes/);
    const again = await ground.engine.start(spec, undefined, { failed: "node-0" });
    expect(again.nodes()[0]?.id).toBe("node-1");
    expect(await countNodes(again)).toBe(nodes);
    expect(await again.ping()).toBe(true);
  });
});
