import { describe, expect, it } from "vitest";
import { hashOf } from "../../../src/platform/engine/acl.ts";
import { ask, asOperator, countNodes, fill, kill, prepare, secret, until } from "./fixture.ts";

const ground = prepare();
const reader = { username: "reader", passwordHash: hashOf("reader-pw"), acl: "~* +GRAPH.RO_QUERY +PING" };

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
    expect(await database.applyUsers([reader])).toEqual([]);
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
    await database.applyUsers([reader, { ...reader, username: "second" }]);
    await kill(database.nodes()[0]?.pid);
    await database.revive();
    expect(await ask(database, ["PING"], { ...login, username: "second" })).toBe("PONG");
  });

  it("loses rules that a change leaves out", async () => {
    const database = await ground.engine.start(ground.spec({ users: [reader] }));
    await database.applyUsers([{ ...reader, acl: "~* +PING" }]);
    const login = { username: "reader", password: "reader-pw" };
    await expect(ask(database, ["GRAPH.RO_QUERY", "g", "RETURN 1"], login)).rejects.toThrow("NOPERM");
  });

  it("cannot sign in once removed; removing it twice is fine", async () => {
    const database = await ground.engine.start(ground.spec({ users: [reader] }));
    await database.applyUsers([]);
    await database.applyUsers([]);
    const login = { username: "reader", password: "reader-pw" };
    await expect(ask(database, ["PING"], login)).rejects.toThrow("WRONGPASS");
    await kill(database.nodes()[0]?.pid);
    await database.revive();
    await expect(ask(database, ["PING"], login)).rejects.toThrow("WRONGPASS");
  });

  it("is refused as a whole for a rule that the server does not know", async () => {
    const spec = ground.spec();
    const database = await ground.engine.start(spec);
    const odd = { ...reader, acl: "+PING +NO.SUCH" };
    expect(database.hasUsers([odd])).toBe(false);
    expect(await database.applyUsers([odd])).toEqual([
      { username: "reader", reason: expect.stringMatching(/user reader: .*NO\.SUCH/) },
    ]);
    expect(database.hasUsers([odd])).toBe(true);
    expect(String(await asOperator(spec, database, ["ACL", "USERS"]))).not.toContain("reader");
  });

  it("becomes as the last of many requests says, and is tried again after an attempt without an answer", async () => {
    const database = await ground.engine.start(ground.spec({ users: [reader] }));
    const second = { ...reader, username: "second" };
    await Promise.all([[second], [reader, second], []].map((users) => database.applyUsers(users)));
    const login = { username: "second", password: "reader-pw" };
    await expect(ask(database, ["PING"], login)).rejects.toThrow("WRONGPASS");
    const { pid = 0 } = database.nodes()[0] ?? {};
    process.kill(pid, "SIGSTOP");
    await expect(database.applyUsers([second])).rejects.toThrow("does not answer");
    process.kill(pid, "SIGCONT");
    expect(database.hasUsers([second])).toBe(false);
    expect(await database.applyUsers([second])).toEqual([]);
    expect(await ask(database, ["PING"], login)).toBe("PONG");
    expect(database.hasUsers([second])).toBe(true);
  }, 240_000);

  it("may have rules in quotes", async () => {
    const database = await ground.engine.start(ground.spec({ users: [{ ...reader, acl: "'~a*' +EXISTS" }] }));
    const login = { username: "reader", password: "reader-pw" };
    expect(await ask(database, ["EXISTS", "a1"], login)).toBe(0);
    await expect(ask(database, ["EXISTS", "b"], login)).rejects.toThrow("NOPERM");
  });

  it.each(["tenant", "default", "graphform-platform"])("cannot be called %s", async (username) => {
    const database = await shared();
    expect(await database.applyUsers([{ ...reader, username }])).toEqual([
      { username, reason: expect.stringContaining("belongs to the database itself") },
    ]);
    expect(await ask(database, ["PING"])).toBe("PONG");
  });
});

/** One database for tests that change nothing. */
let one: ReturnType<typeof ground.engine.start> | undefined;
function shared(): ReturnType<typeof ground.engine.start> {
  one ??= ground.engine.start(ground.spec({ password: secret }));
  return one;
}
