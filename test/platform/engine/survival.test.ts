import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { DatabaseNode, DatabaseSpec } from "../../../src/platform/engine/spec.ts";
import { ask, countNodes, fill, kill, parameter, prepare, processesIn, until } from "./fixture.ts";

const ground = prepare();

describe("stop and start", () => {
  it.each<readonly [string, Partial<DatabaseSpec>]>([
    ["with an append-only file", { aof: "everysec", rdb: "low" }],
    ["with snapshots alone", { rdb: "low" }],
    ["with neither", {}],
    ["with a replica", { aof: "everysec", nodes: 2 }],
  ])("keeps all data %s", async (_, changes) => {
    const { aof: _aof, rdb: _rdb, ...bare } = ground.spec();
    const spec = { ...bare, ...changes };
    const exits: DatabaseNode[] = [];
    const onExit = (node: DatabaseNode): unknown => exits.push(node);
    const database = await ground.engine.start(spec, undefined, { onExit });
    await fill(database, 1000);
    await database.stop();
    expect(await processesIn(spec.dir)).toEqual([]);
    expect(await database.ping()).toBe(false);
    const again = await ground.engine.start(spec);
    expect(await countNodes(again)).toBe(1000);
    expect(exits).toEqual([]);
  });

  it("keeps the data when the append-only file is switched on later", async () => {
    const { aof: _, ...without } = ground.spec();
    const database = await ground.engine.start(without);
    await fill(database, 10);
    await database.stop();
    expect(await countNodes(await ground.engine.start({ ...without, aof: "always" }))).toBe(10);
  });
});

describe("a process that is killed", () => {
  it("is told of, and revived on its port with its data", async () => {
    const spec = ground.spec({ aof: "always" });
    const exits: DatabaseNode[] = [];
    const onExit = (node: DatabaseNode): unknown => exits.push(node);
    const database = await ground.engine.start(spec, undefined, { onExit });
    await fill(database, 20);
    const [before] = database.nodes();
    await kill(before?.pid);
    await until(() => exits.length > 0);
    expect(exits).toEqual([before]);
    expect(await database.ping()).toBe(false);
    await database.revive();
    expect(await countNodes(database)).toBe(20);
    expect(database.port()).toBe(before?.port);
    await kill(database.nodes()[0]?.pid);
    await until(() => exits.length > 1);
  });

  it("leaves nothing to revive when it is alive", async () => {
    const database = await ground.engine.start(ground.spec());
    const before = database.nodes();
    await database.revive();
    expect(database.nodes()).toEqual(before);
  });
});

describe("a platform that is killed", () => {
  it("leaves its databases running; the next one takes them over and watches them", async () => {
    const spec = ground.spec({ nodes: 2, parameters: { CACHE_SIZE: 33 } });
    const before = await startAndDie(spec);
    expect(await processesIn(spec.dir)).toHaveLength(2);
    const exits: string[] = [];
    const onExit = (node: DatabaseNode): unknown => exits.push(node.id);
    const database = await ground.engine.start(spec, undefined, { onExit });
    expect(database.nodes()).toEqual(before);
    expect(await parameter(database, "CACHE_SIZE")).toBe(33);
    await kill(database.nodes()[1]?.pid);
    await until(() => exits.length > 0);
    expect(exits).toEqual(["node-1"]);
  });

  it.each<readonly [string, Partial<DatabaseSpec>]>([
    ["password", { password: "another password" }],
    ["memory", { maxMemoryBytes: 200_000_000 }],
    ["parameters", { parameters: { CACHE_SIZE: 5 } }],
  ])("has its database started anew, with its data, where the %s is to be another", async (_, changes) => {
    const spec = ground.spec();
    const [before] = await startAndDie(spec);
    const wanted = { ...spec, ...changes };
    const database = await ground.engine.start(wanted);
    expect(database.nodes()[0]?.pid).not.toBe(before?.pid);
    expect(await countNodes(database, { password: wanted.password })).toBe(7);
    expect(await processesIn(spec.dir)).toHaveLength(1);
  });

  it("is not mistaken for a stranger that has the pid of its pid file", async () => {
    const spec = ground.spec();
    const database = await ground.engine.start(spec);
    await database.stop();
    await writeFile(join(spec.dir, "node-0", "server.pid"), `${process.pid}\n`);
    expect(await (await ground.engine.start(spec)).ping()).toBe(true);
  });
});

describe("two starts over one folder", () => {
  it("make one server", async () => {
    const spec = ground.spec();
    const [one, two] = await Promise.all([ground.engine.start(spec), ground.engine.start(spec)]);
    expect(one?.nodes()).toEqual(two?.nodes());
    expect(await processesIn(spec.dir)).toHaveLength(1);
    const pid = Number(await readFile(join(spec.dir, "node-0", "server.pid"), "utf8"));
    expect(one?.nodes()[0]?.pid).toBe(pid);
    await ask(one ?? (await ground.engine.start(spec)), ["PING"]);
  });
});

/** Starts a database with 7 nodes in a process of its own, which then dies as by `kill -9`. */
async function startAndDie(spec: DatabaseSpec): Promise<readonly DatabaseNode[]> {
  const child = fork(new URL("./start-and-wait.ts", import.meta.url), {
    execArgv: [],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const dead = once(child, "exit");
  child.send({ start: spec });
  const [nodes]: DatabaseNode[][] = await once(child, "message");
  const database = { host: "127.0.0.1", port: () => nodes?.[0]?.port ?? 0 };
  await ask(database, ["GRAPH.QUERY", "g", "UNWIND range(1, 7) AS i CREATE (:N)"], {
    password: spec.password,
  });
  child.kill("SIGKILL");
  await dead;
  return nodes ?? [];
}
