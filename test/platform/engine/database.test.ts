import { readdir, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { DatabaseNode, DatabaseSpec } from "../../../src/platform/engine/spec.ts";
import { ask, asOperator, countNodes, fill, parameter, prepare, processesIn, secret } from "./fixture.ts";

const ground = prepare();

describe("a database that is started", () => {
  it("answers a graph query with the tenant's login", async () => {
    const database = await ground.engine.start(ground.spec());
    await fill(database, 3);
    expect(await countNodes(database)).toBe(3);
    expect(await database.ping()).toBe(true);
    expect(database.nodes()).toEqual([
      { id: "node-0", role: "primary", port: database.port(), pid: expect.any(Number) },
    ]);
  });

  const ours = {
    CACHE_SIZE: 100,
    MAX_QUEUED_QUERIES: 77,
    NODE_CREATION_BUFFER: 4096,
    QUERY_MEM_CAPACITY: 52_428_800,
    RESULTSET_SIZE: 500,
    TIMEOUT_DEFAULT: 1500,
    TIMEOUT_MAX: 3000,
  };
  it.each([
    ["all set", ours],
    [
      "the largest",
      { ...ours, CACHE_SIZE: 256, NODE_CREATION_BUFFER: 32_768, QUERY_MEM_CAPACITY: 21_474_836_480 },
    ],
    ["limits off", { ...ours, RESULTSET_SIZE: 0, TIMEOUT_DEFAULT: 0, TIMEOUT_MAX: 0 }],
    ["a default without a maximum", { ...ours, TIMEOUT_DEFAULT: 45_000, TIMEOUT_MAX: 0 }],
  ])("has every parameter as the spec says, as the tenant sees it: %s", async (_, parameters) => {
    const database = await ground.engine.start(ground.spec({ parameters }));
    const seen = Object.keys(parameters).map(async (name) => [name, await parameter(database, name)]);
    expect(Object.fromEntries(await Promise.all(seen))).toEqual(parameters);
  });

  it("may live in a folder with any name", async () => {
    const spec = ground.spec({ nodes: 2 });
    const dir = `${spec.dir} "quoted" ünd 'mehr' \\ #1`;
    const database = await ground.engine.start({ ...spec, dir });
    await fill(database, 2);
    await database.stop();
    expect(await countNodes(await ground.engine.start({ ...spec, dir }))).toBe(2);
    expect(await ground.engine.start({ ...spec, dir }).then((again) => again.ping())).toBe(true);
    await ground.engine.destroy(dir);
    expect(await processesIn(spec.dir)).toEqual([]);
  });

  const settings: readonly (readonly [string, Partial<DatabaseSpec>, string, string])[] = [
    ["memory in bytes", { maxMemoryBytes: 104_857_600 }, "maxmemory", "104857600"],
    ["no memory ceiling", {}, "maxmemory", "0"],
    ["append-only file off", {}, "appendonly", "no"],
    ["append-only file on", { aof: "everysec" }, "appendonly", "yes"],
    ["flushed every second", { aof: "everysec" }, "appendfsync", "everysec"],
    ["flushed always", { aof: "always" }, "appendfsync", "always"],
    ["snapshots low", { rdb: "low" }, "save", "86400 1 21600 100 3600 10000"],
    ["snapshots medium", { rdb: "medium" }, "save", "21600 1 3600 100 300 10000"],
    ["snapshots high", { rdb: "high" }, "save", "3600 1 300 100 60 10000"],
    ["no snapshots", {}, "save", ""],
  ];
  it.each(settings)("%s", async (_, changes, name, value) => {
    const { aof: _aof, rdb: _rdb, ...bare } = ground.spec();
    const spec = { ...bare, ...changes };
    const database = await ground.engine.start(spec);
    expect(await asOperator(spec, database, ["CONFIG", "GET", name])).toEqual([name, value]);
    await ground.engine.destroy(spec.dir);
  });

  it("keeps its files to its owner and its passwords out of every process list", async () => {
    const spec = ground.spec({ nodes: 2 });
    await ground.engine.start(spec);
    const files = (await readdir(spec.dir, { recursive: true, withFileTypes: true })).map((entry) =>
      join(entry.parentPath, entry.name),
    );
    expect(files.length).toBeGreaterThan(8);
    // The server's own drafts come and go.
    const isOpen = (file: string): Promise<boolean> =>
      stat(file).then(
        ({ mode }) => (mode & 0o077) !== 0,
        () => false,
      );
    const open = await Promise.all(files.map(isOpen));
    // What the server writes itself has the umask's mode; the folder around it is closed.
    expect(files.filter((file, index) => open[index] && !/\/data\/|server\.pid$/.test(file))).toEqual([]);
    const argv = await processesIn(spec.dir);
    expect(argv).toHaveLength(2);
    expect(argv.join()).not.toContain(secret);
  });

  it("takes the port it had before, and another where somebody has taken it", async () => {
    const spec = ground.spec();
    const first = await ground.engine.start(spec);
    const port = first.port();
    await first.stop();
    const second = await ground.engine.start({ ...spec, ports: [port] });
    expect(second.port()).toBe(port);
    await second.stop();
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(port, "127.0.0.1", resolve));
    const third = await ground.engine.start({ ...spec, ports: [port] });
    expect(third.port()).not.toBe(port);
    expect(await third.ping()).toBe(true);
    squatter.close();
  });

  it("has a port of its own when many start at once", async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => ground.engine.start(ground.spec())));
    expect(new Set(all.map((database) => database.port())).size).toBe(8);
    expect(await Promise.all(all.map((database) => database.ping()))).toEqual(all.map(() => true));
  });
});

describe("a database that cannot start", () => {
  it("says why in the engine's own words, and leaves no process", async () => {
    const spec = ground.spec({ parameters: { TIMEOUT_DEFAULT: 2000, TIMEOUT_MAX: 1000 } });
    await expect(ground.engine.start(spec)).rejects.toThrow(
      /TIMEOUT_DEFAULT\(2000\) configuration parameter value is higher than TIMEOUT_MAX\(1000\)/,
    );
    expect(await processesIn(spec.dir)).toEqual([]);
  });

  it("does not take the primary down with it when it ran before", async () => {
    const spec = ground.spec();
    const database = await ground.engine.start(spec);
    await fill(database, 5);
    const bad = { ...spec, parameters: { CACHE_SIZE: -7, NO_SUCH_PARAMETER: 1 } };
    await expect(ground.engine.start(bad)).rejects.toThrow(/did not start/);
    expect(await countNodes(await ground.engine.start(spec))).toBe(5);
  });

  it("rejects with the reason of the signal, and leaves no process", async () => {
    const spec = ground.spec();
    const reason = new Error("enough");
    await expect(ground.engine.start(spec, AbortSignal.abort(reason))).rejects.toBe(reason);
    const soon = new AbortController();
    const start = ground.engine.start({ ...spec, nodes: 2 }, soon.signal);
    soon.abort(reason);
    await expect(start).rejects.toBe(reason);
    expect(await processesIn(spec.dir)).toEqual([]);
  });

  it("never shows a password in an error", async () => {
    const users = [{ username: "broken", passwordHash: "a".repeat(64), acl: "+NO.SUCH.COMMAND" }];
    const failure = await ground.engine
      .start(ground.spec({ users }))
      .catch((error: unknown) => String(error));
    expect(failure).toMatch(/did not start/);
    expect(failure).not.toContain("aaaaaaaa");
    expect(failure).not.toContain(secret);
  });
});

describe("a database that is destroyed", () => {
  it("leaves no process and no file, whether it answers or not", async () => {
    const spec = ground.spec({ nodes: 2 });
    const exits: string[] = [];
    const onExit = (node: DatabaseNode): unknown => exits.push(node.id);
    const database = await ground.engine.start(spec, undefined, { onExit });
    const [primary] = database.nodes();
    process.kill(primary?.pid ?? 0, "SIGSTOP");
    await ground.engine.destroy(spec.dir);
    expect(await processesIn(spec.dir)).toEqual([]);
    await expect(stat(spec.dir)).rejects.toThrow("ENOENT");
    expect(exits).toEqual([]);
    await ground.engine.destroy(spec.dir);
  });

  it("does not touch a neighbour whose folder's name begins alike", async () => {
    const spec = ground.spec();
    const neighbour = { ...spec, dir: `${spec.dir}0` };
    await ground.engine.start(spec);
    const other = await ground.engine.start(neighbour);
    await ground.engine.destroy(spec.dir);
    expect(await other.ping()).toBe(true);
  });

  it("answers again only to ask that is refused", async () => {
    const spec = ground.spec();
    const database = await ground.engine.start(spec);
    await ground.engine.destroy(spec.dir);
    expect(await database.ping()).toBe(false);
    await expect(ask(database, ["PING"])).rejects.toThrow("ECONNREFUSED");
  });
});
