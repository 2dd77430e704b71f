import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ask, asOperator, countNodes, fill, prepare, processesIn } from "./fixture.ts";

const ground = prepare();

describe("a snapshot", () => {
  it.each([
    ["with an append-only file", { aof: "everysec" } as const],
    ["without one", {}],
    ["into two nodes", { aof: "always", nodes: 2 } as const],
  ])("starts a new database with all of its data %s", async (_, changes) => {
    const source = await ground.engine.start(ground.spec());
    await fill(source, 5000);
    const file = join(ground.folder, "snapshots", `${Math.random()}.rdb`);
    await source.snapshot(file);
    await fill(source, 1);
    expect((await stat(file)).mode & 0o077).toBe(0);
    const { aof: _aof, ...bare } = ground.spec();
    const spec = { ...bare, ...changes, seed: file };
    const restored = await ground.engine.start(spec);
    for (const { port } of restored.nodes()) expect(await countNodes(restored, { port })).toBe(5000);
    await fill(restored, 5);
    await restored.stop();
    // The seed is for the first start alone.
    expect(await countNodes(await ground.engine.start(spec))).toBe(5005);
  });

  it("has what was written before it was asked for, also while another one is being written", async () => {
    const spec = ground.spec();
    const database = await ground.engine.start(spec);
    await fill(database, 3000);
    await asOperator(spec, database, ["BGSAVE"]);
    await fill(database, 1);
    const file = join(ground.folder, "during.rdb");
    await database.snapshot(file);
    expect(await countNodes(await ground.engine.start(ground.spec({ seed: file })))).toBe(3001);
  });

  it("replaces a file in one step and leaves no other", async () => {
    const database = await ground.engine.start(ground.spec());
    const file = join(ground.folder, "same", "one.rdb");
    await database.snapshot(file);
    await fill(database, 2);
    await database.snapshot(file);
    expect(await readdir(join(ground.folder, "same"))).toEqual(["one.rdb"]);
  });

  it("is taken of the primary after a failover", async () => {
    const database = await ground.engine.start(ground.spec({ nodes: 2 }));
    await database.failover();
    await fill(database, 8);
    const file = join(ground.folder, "promoted.rdb");
    await database.snapshot(file);
    expect(await countNodes(await ground.engine.start(ground.spec({ seed: file })))).toBe(8);
  });

  it("is refused by a database that does not run", async () => {
    const database = await ground.engine.start(ground.spec());
    await database.stop();
    await expect(database.snapshot(join(ground.folder, "none.rdb"))).rejects.toThrow("ECONNREFUSED");
    await expect(stat(join(ground.folder, "none.rdb"))).rejects.toThrow("ENOENT");
  });
});

describe("a seed", () => {
  it.each([
    ["that is no snapshot", "no data", /is no snapshot of a database/],
    ["that is empty", "", /is no snapshot of a database/],
    ["that is cut off", "REDIS0011\u00fa", /did not start/],
  ])("%s is refused with its name", async (name, text, message) => {
    const seed = join(ground.folder, `${name.replaceAll(" ", "-")}.rdb`);
    await writeFile(seed, text, "latin1");
    const spec = ground.spec({ seed });
    await expect(ground.engine.start(spec)).rejects.toThrow(message);
    expect(await processesIn(spec.dir)).toEqual([]);
  });

  it("that is not there is refused", async () => {
    const seed = join(ground.folder, "missing.rdb");
    await expect(ground.engine.start(ground.spec({ seed }))).rejects.toThrow(
      `the snapshot ${seed} cannot be read`,
    );
  });

  it("never replaces data", async () => {
    const source = await ground.engine.start(ground.spec());
    await fill(source, 3);
    const seed = join(ground.folder, "older.rdb");
    await source.snapshot(seed);
    const spec = ground.spec();
    const database = await ground.engine.start(spec);
    await fill(database, 1);
    await database.stop();
    expect(await countNodes(await ground.engine.start({ ...spec, seed }))).toBe(1);
    await ask(source, ["PING"]);
  });
});
