import { describe, expect, it } from "vitest";
import { hashOf } from "../../../src/platform/engine/acl.ts";
import { ask, asOperator, countNodes, fill, kill, prepare, processesIn, secret, until } from "./fixture.ts";

const ground = prepare();
const reader = { username: "reader", passwordHash: hashOf("reader-pw"), rules: "~* +GRAPH.RO_QUERY +PING" };

describe("the tenant", () => {
  it.each([
    [["INFO", "memory"]],
    [["CLIENT", "LIST"]],
    [["ROLE"]],
    [["SELECT", "1"]],
    [["MODULE", "LIST"]],
    [["MEMORY", "USAGE", "g"]],
    [["SLOWLOG", "GET"]],
    [["DBSIZE"]],
    [["SCAN", "0"]],
    [["GRAPH.LIST"]],
    [["GRAPH.CONFIG", "SET", "RESULTSET_SIZE", "9"]],
  ])("may run %j", async (command) => {
    const database = await shared();
    await expect(ask(database, command)).resolves.not.toBeInstanceOf(Error);
  });

  it.each([
    [["CONFIG", "GET", "maxmemory"]],
    [["ACL", "LIST"]],
    [["ACL", "WHOAMI"]],
    [["SHUTDOWN"]],
    [["DEBUG", "SLEEP", "0"]],
    [["MODULE", "UNLOAD", "graph"]],
    [["REPLICAOF", "NO", "ONE"]],
    [["SAVE"]],
  ])("may not run %j", async (command) => {
    await expect(ask(await shared(), command)).rejects.toThrow(/NOPERM|command not allowed/);
  });

  it.each([
    ["a wrong password", { password: "wrong" }],
    ["the built-in user without a password", { username: "default", password: "" }],
    ["the built-in user with the tenant's", { username: "default" }],
    ["the operator with the tenant's", { username: "graphform-platform" }],
  ])("is not let in with %s", async (_, login) => {
    await expect(ask(await shared(), ["PING"], login)).rejects.toThrow(/WRONGPASS|NOAUTH/);
  });

  it("may be called default", async () => {
    const spec = ground.spec({ user: "default" });
    const database = await ground.engine.start(spec);
    expect(await ask(database, ["PING"], { username: "default" })).toBe("PONG");
    await expect(ask(database, ["CONFIG", "GET", "save"], { username: "default" })).rejects.toThrow("NOPERM");
  });

  it("has a new password at once, on every node and after a restart, and the old one no more", async () => {
    const spec = ground.spec({ nodes: 2 });
    const database = await ground.engine.start(spec);
    const before = database.nodes().map(({ pid }) => pid);
    await database.setPassword("something else");
    expect(database.nodes().map(({ pid }) => pid)).toEqual(before);
    for (const { port } of database.nodes()) {
      expect(await ask(database, ["PING"], { port, password: "something else" })).toBe("PONG");
      await expect(ask(database, ["PING"], { port })).rejects.toThrow("WRONGPASS");
    }
    await kill(before[0]);
    await database.revive();
    expect(await ask(database, ["PING"], { password: "something else" })).toBe("PONG");
    expect((await processesIn(spec.dir)).join()).not.toContain("something else");
  });

  it.each([
    "with space",
    "quote\" and ' and \\ and #",
    "ünïcode 🔑",
    "line\nbreak",
    " ".repeat(3),
    "x".repeat(2000),
  ])("may have the password %j", async (password) => {
    const spec = ground.spec({ password });
    const database = await ground.engine.start(spec);
    expect(await ask(database, ["PING"], { password })).toBe("PONG");
    await ground.engine.destroy(spec.dir);
  });
});

describe("another user", () => {
  it("runs what its rules allow and is refused the rest, on every node", async () => {
    const database = await ground.engine.start(ground.spec({ nodes: 2 }));
    await fill(database, 4);
    await database.setUser(reader);
    for (const { port } of database.nodes()) {
      const login = { username: "reader", password: "reader-pw", port };
      await until(async () => (await countNodes(database, login).catch(() => 0)) === 4);
      await expect(ask(database, ["GRAPH.QUERY", "g", "CREATE ()"], login)).rejects.toThrow("NOPERM");
      await expect(ask(database, ["GRAPH.LIST"], login)).rejects.toThrow("NOPERM");
    }
  });

  it("is there again after a restart with the spec's users, and after a revival without a word", async () => {
    const spec = ground.spec({ users: [reader] });
    const database = await ground.engine.start(spec);
    const login = { username: "reader", password: "reader-pw" };
    expect(await ask(database, ["PING"], login)).toBe("PONG");
    await database.setUser({ ...reader, username: "second" });
    await kill(database.nodes()[0]?.pid);
    await database.revive();
    expect(await ask(database, ["PING"], { ...login, username: "second" })).toBe("PONG");
  });

  it("loses rules that a change leaves out", async () => {
    const database = await ground.engine.start(ground.spec({ users: [reader] }));
    await database.setUser({ ...reader, rules: "~* +PING" });
    const login = { username: "reader", password: "reader-pw" };
    await expect(ask(database, ["GRAPH.RO_QUERY", "g", "RETURN 1"], login)).rejects.toThrow("NOPERM");
  });

  it("cannot sign in once removed; removing it twice is fine", async () => {
    const database = await ground.engine.start(ground.spec({ users: [reader] }));
    await database.removeUser("reader");
    await database.removeUser("reader");
    const login = { username: "reader", password: "reader-pw" };
    await expect(ask(database, ["PING"], login)).rejects.toThrow("WRONGPASS");
    await kill(database.nodes()[0]?.pid);
    await database.revive();
    await expect(ask(database, ["PING"], login)).rejects.toThrow("WRONGPASS");
  });

  it("is refused as a whole for a rule that the server does not know", async () => {
    const spec = ground.spec();
    const database = await ground.engine.start(spec);
    await expect(database.setUser({ ...reader, rules: "+PING +NO.SUCH" })).rejects.toThrow(
      /user reader: .*NO\.SUCH/,
    );
    expect(String(await asOperator(spec, database, ["ACL", "USERS"]))).not.toContain("reader");
  });

  it("may have rules in quotes", async () => {
    const database = await ground.engine.start(
      ground.spec({ users: [{ ...reader, rules: "'~a*' +EXISTS" }] }),
    );
    const login = { username: "reader", password: "reader-pw" };
    expect(await ask(database, ["EXISTS", "a1"], login)).toBe(0);
    await expect(ask(database, ["EXISTS", "b"], login)).rejects.toThrow("NOPERM");
  });

  it.each(["tenant", "default", "graphform-platform"])("cannot be called %s", async (username) => {
    const database = await shared();
    await expect(database.setUser({ ...reader, username })).rejects.toThrow("belongs to the database itself");
    await expect(database.removeUser(username)).rejects.toThrow("belongs to the database itself");
    expect(await ask(database, ["PING"])).toBe("PONG");
  });
});

/** One database for tests that change nothing. */
let one: ReturnType<typeof ground.engine.start> | undefined;
function shared(): ReturnType<typeof ground.engine.start> {
  one ??= ground.engine.start(ground.spec({ password: secret }));
  return one;
}
