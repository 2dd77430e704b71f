import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { DatabaseNode } from "../../../src/platform/engine/spec.ts";
import { ask, asOperator, countNodes, fill, kill, prepare, processesIn, until } from "./fixture.ts";

const ground = prepare();

describe("a replica", () => {
  it("is in sync when the start resolves, and has what is written", async () => {
    const database = await ground.engine.start(ground.spec({ nodes: 2 }));
    await fill(database, 50);
    const [, replica] = database.nodes();
    expect(replica).toMatchObject({ id: "node-1", role: "replica" });
    await until(async () => (await countNodes(database, { port: replica?.port ?? 0 }).catch(() => 0)) === 50);
    const write = ask(database, ["GRAPH.QUERY", "g", "CREATE (:N)"], { port: replica?.port ?? 0 });
    await expect(write).rejects.toThrow(/READONLY|read.?only/i);
  });

  it("gets in sync again after it was killed", async () => {
    const database = await ground.engine.start(ground.spec({ nodes: 2 }));
    await fill(database, 5);
    await kill(database.nodes()[1]?.pid);
    await until(async () => !(await database.ping()));
    await fill(database, 5);
    await database.revive();
    expect(await database.ping()).toBe(true);
    expect(await countNodes(database, { port: database.nodes()[1]?.port ?? 0 })).toBe(10);
  });

  it.each(["always", "everysec"] as const)(
    "stays a replica when the primary was killed and is revived (%s)",
    async (aof) => {
      const database = await ground.engine.start(ground.spec({ nodes: 2, aof }));
      await fill(database, 5);
      const before = database.nodes();
      await kill(before[0]?.pid);
      await until(async () => !(await database.ping()));
      await database.revive();
      expect(database.nodes().map(({ id, port, role }) => ({ id, port, role }))).toEqual(
        before.map(({ id, port, role }) => ({ id, port, role })),
      );
      expect(await countNodes(database)).toBe(5);
      expect(await database.ping()).toBe(true);
    },
  );
});

describe("a replica whose link broke before the primary died", () => {
  it("does not become primary: the files of the primary have the later writes", async () => {
    const spec = ground.spec({ nodes: 2, aof: "everysec" });
    const database = await ground.engine.start(spec);
    await fill(database, 5);
    const [primary, replica] = database.nodes();
    await asOperator(spec, { host: database.host, port: () => replica?.port ?? 0 }, [
      "REPLICAOF",
      "NO",
      "ONE",
    ]);
    await fill(database, 7);
    await kill(primary?.pid);
    await until(async () => !(await database.ping()));
    await database.revive();
    expect(await countNodes(database)).toBe(12);
    expect(database.nodes()[0]?.id).toBe("node-0");
  });
});

describe("two nodes that die one after the other", () => {
  it("are back with all their data: the primary does not wait for the replica that has ended", async () => {
    const spec = ground.spec({ nodes: 2, aof: "always" });
    const database = await ground.engine.start(spec);
    await fill(database, 50_000);
    const [primary, replica] = database.nodes();
    await kill(primary?.pid);
    const reviving = database.revive().catch(() => undefined);
    // The primary is back, and the replica is being filled.
    await until(async () => (await countNodes(database).catch(() => 0)) === 50_000);
    process.kill(replica?.pid ?? 0, "SIGKILL");
    await reviving;
    await until(async () => {
      await database.revive().catch(() => undefined);
      return database.ping();
    });
    expect(await countNodes(database)).toBe(50_000);
  });
});

describe("a failover", () => {
  it("swaps the roles without a restart; the data is there, writes go on, and a second one swaps back", async () => {
    const database = await ground.engine.start(ground.spec({ nodes: 2 }));
    await fill(database, 100);
    const before = database.nodes();
    await database.failover();
    expect(database.nodes().map(({ id, role }) => `${id} ${role}`)).toEqual([
      "node-1 primary",
      "node-0 replica",
    ]);
    expect(database.nodes().map(({ pid }) => pid)).toEqual(before.map(({ pid }) => pid).reverse());
    expect(database.port()).toBe(before[1]?.port);
    expect(await countNodes(database)).toBe(100);
    await fill(database, 11);
    await until(async () => (await countNodes(database, { port: before[0]?.port ?? 0 })) === 111);
    await database.failover();
    expect(database.port()).toBe(before[0]?.port);
    expect(await countNodes(database)).toBe(111);
  });

  it("loses no write that was acknowledged while it happened, and kills no server that is writing", async () => {
    const exits: string[] = [];
    const onExit = (node: DatabaseNode): unknown => exits.push(node.id);
    const database = await ground.engine.start(ground.spec({ nodes: 2 }), undefined, { onExit });
    let acknowledged = 0;
    let isOver = false;
    const write = async (): Promise<void> => {
      while (!isOver) {
        const done = await ask(database, ["GRAPH.QUERY", "g", "CREATE (:N)"]).catch(() => undefined);
        if (done !== undefined) acknowledged += 1;
      }
    };
    const writers = [write(), write(), write()];
    const swapAfter = async (writes: number): Promise<void> => {
      await until(() => acknowledged > writes);
      await database.failover();
    };
    for (const writes of [20, 40, 60, 80]) await swapAfter(writes);
    isOver = true;
    await Promise.all(writers);
    expect(exits).toEqual([]);
    expect(await countNodes(database)).toBe(acknowledged);
  });

  it("waits for a query that is under way", async () => {
    const database = await ground.engine.start(ground.spec({ nodes: 2 }));
    const long = fill(database, 200_000);
    await until(async () => String(await ask(database, ["INFO", "clients"])).includes("blocked_clients:1"));
    await database.failover();
    await long;
    expect(await countNodes(database)).toBe(200_000);
  });

  it("that was cut off in the middle does not leave a database that takes no writes", async () => {
    const spec = ground.spec({ nodes: 2 });
    const database = await ground.engine.start(spec);
    await asOperator(spec, database, ["CONFIG", "SET", "min-replicas-to-write", "1000"]);
    await expect(fill(database, 1)).rejects.toThrow("NOREPLICAS");
    const again = await ground.engine.start(spec);
    expect(again.nodes()).toEqual(database.nodes());
    await fill(again, 1);
  });

  it("that was cut off between its two halves is taken up where the decision was made", async () => {
    const spec = ground.spec({ nodes: 2 });
    const database = await ground.engine.start(spec);
    await fill(database, 4);
    const replica = { host: database.host, port: (): number => database.nodes()[1]?.port ?? 0 };
    // A failover decides once the replica has all of it; a node that was promoted without a key is not believed.
    await until(async () => (await countNodes(replica).catch(() => 0)) === 4);
    const file = join(spec.dir, "database.json");
    await writeFile(file, (await readFile(file, "utf8")).replace('"primary":0', '"primary":1'));
    await asOperator(spec, replica, ["REPLICAOF", "NO", "ONE"]);
    await expect(fill(replica, 3)).rejects.toThrow("NOREPLICAS");
    const again = await ground.engine.start(spec);
    expect(again.nodes().map(({ id, role }) => `${id} ${role}`)).toEqual([
      "node-1 primary",
      "node-0 replica",
    ]);
    await fill(again, 3);
    expect(await countNodes(again)).toBe(7);
    await until(async () => (await countNodes(again, { port: database.nodes()[0]?.port ?? 0 })) === 7);
    expect(again.nodes().map(({ pid }) => pid)).toEqual(
      database
        .nodes()
        .map(({ pid }) => pid)
        .reverse(),
    );
  });

  it("that promoted a replica without a key, and was cut off then, serves the data of the other node", async () => {
    const spec = ground.spec({ nodes: 2 });
    const database = await ground.engine.start(spec);
    const replica = { host: database.host, port: (): number => database.nodes()[1]?.port ?? 0 };
    await asOperator(spec, replica, ["REPLICAOF", "NO", "ONE"]);
    await fill(database, 4);
    const file = join(spec.dir, "database.json");
    await writeFile(file, (await readFile(file, "utf8")).replace('"primary":0', '"primary":1'));
    const again = await ground.engine.start(spec);
    expect(await countNodes(again)).toBe(4);
    await fill(again, 3);
    for (const { port } of again.nodes())
      await until(async () => (await countNodes(again, { port }).catch(() => 0)) === 7);
  });

  it("is remembered: the next start has the same primary, with the data", async () => {
    const spec = ground.spec({ nodes: 2 });
    const database = await ground.engine.start(spec);
    await database.failover();
    await fill(database, 9);
    await database.stop();
    const again = await ground.engine.start(spec);
    expect(again.nodes().map(({ id, role }) => `${id} ${role}`)).toEqual([
      "node-1 primary",
      "node-0 replica",
    ]);
    expect(await countNodes(again)).toBe(9);
    const adopted = await ground.engine.start(spec);
    expect(adopted.nodes()).toEqual(again.nodes());
    expect(await processesIn(spec.dir)).toHaveLength(2);
  });

  it("is refused without a replica, and with one that is not in sync; nothing changes then", async () => {
    const alone = await ground.engine.start(ground.spec());
    await expect(alone.failover()).rejects.toThrow("there is no replica");
    const database = await ground.engine.start(ground.spec({ nodes: 2 }));
    const before = database.nodes();
    await kill(before[1]?.pid);
    await until(async () => !(await database.ping()));
    await expect(database.failover()).rejects.toThrow("no replica is in sync; nothing was changed");
    expect(database.nodes()).toEqual(before);
    await fill(database, 1);
    await database.revive();
    await database.failover();
    expect(await countNodes(database)).toBe(1);
  });

  it.each(["restart", "recreate", undefined] as const)(
    "of a primary that died before its replica had the last writes keeps them (then: %s)",
    async (then) => {
      const database = await ground.engine.start(ground.spec({ nodes: 2, aof: "always" }));
      await fill(database, 5);
      const [primary, replica] = database.nodes();
      // The replica receives nothing any more.
      process.kill(replica?.pid ?? 0, "SIGSTOP");
      await fill(database, 7);
      await kill(primary?.pid);
      await kill(replica?.pid);
      await database.failover(primary?.id, then);
      expect(database.nodes().map(({ id, role }) => `${id} ${role}`)).toEqual([
        "node-1 primary",
        "node-0 replica",
      ]);
      expect(await countNodes(database)).toBe(12);
      expect(await database.ping()).toBe(true);
    },
  );

  it("of a primary that cannot start again goes on with the replica, and keeps what the primary had", async () => {
    const told: string[] = [];
    const spec = ground.spec({ nodes: 2, aof: "always" });
    const notify = (what: string): void => void told.push(what);
    const database = await ground.engine.start(spec, undefined, { notify });
    await fill(database, 5);
    const [primary, replica] = database.nodes();
    await until(async () => (await countNodes(database, { port: replica?.port ?? 0 }).catch(() => 0)) === 5);
    // Its configuration cannot be written.
    await mkdir(join(spec.dir, "node-0", "server.conf.new"));
    await writeFile(join(spec.dir, "node-0", "server.conf"), "");
    await kill(primary?.pid);
    await database.failover(primary?.id);
    expect(database.nodes()[0]?.id).toBe("node-1");
    expect(await countNodes(database)).toBe(5);
    expect(told.join()).toMatch(/cannot be started with node-0 .*started without it/);
    expect(await readdir(join(spec.dir, "node-0"))).toContain("data.aside");
  });

  it.each(["SIGKILL", "SIGSTOP"] as const)("serves a primary that really failed (%s)", async (signal) => {
    const database = await ground.engine.start(ground.spec({ nodes: 2 }));
    await fill(database, 5);
    const [primary, replica] = database.nodes();
    await until(async () => (await countNodes(database, { port: replica?.port ?? 0 }).catch(() => 0)) === 5);
    process.kill(primary?.pid ?? 0, signal);
    await database.failover(primary?.id);
    expect(database.nodes().map(({ id, role }) => `${id} ${role}`)).toEqual([
      "node-1 primary",
      "node-0 replica",
    ]);
    await fill(database, 1);
    expect(await countNodes(database)).toBe(6);
    expect(database.trouble()).toBeUndefined();
    expect(await database.ping()).toBe(true);
  });
});
