import { createServer } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { askAtOnce, talk } from "../../src/database/connection.ts";
import { ping } from "../../src/database/parameters.ts";
import { type Answer, caFile, startRespServer } from "./resp-server.ts";

const never = new AbortController().signal;
const password = "correct horse battery staple";

/** Answers as a database with one user does. */
const database: Answer = ([name, ...args]) => {
  if (name === "AUTH")
    return args.at(-1) === password ? "+OK\r\n" : "-WRONGPASS invalid username-password pair\r\n";
  return "+PONG\r\n";
};

describe("verify", () => {
  const cases: readonly [reason: string, answer: Answer, verdict: string][] = [
    ["that answers", database, "answered"],
    [
      "that lets the user in, who may not PING",
      ([name]) => (name === "AUTH" ? "+OK\r\n" : "-NOPERM no\r\n"),
      "answered",
    ],
    [
      "that knows another password",
      () => "-WRONGPASS invalid username-password pair\r\n",
      "refused-credentials",
    ],
    ["whose directory refuses the user", () => "-ERR LDAP authentication failed\r\n", "refused-credentials"],
    [
      "that takes AUTH for nothing",
      ([name]) => (name === "AUTH" ? "+OK\r\n" : "-NOAUTH required\r\n"),
      "refused-credentials",
    ],
    [
      "that has no password at all",
      () => "-ERR AUTH called without any password configured\r\n",
      "refused-credentials",
    ],
    [
      "that is loading",
      ([name]) => (name === "AUTH" ? "+OK\r\n" : "-LOADING the dataset\r\n"),
      "unreachable",
    ],
    ["that is full", () => "-ERR max number of clients reached\r\n", "unreachable"],
    ["that speaks another protocol", () => "HTTP/1.1 400 Bad Request\r\n\r\n", "unreachable"],
    ["that says nothing", () => undefined, "unreachable"],
  ];
  it.each(cases)("of a database %s", async (_, answer, verdict) => {
    const server = await startRespServer(answer);
    const target = { host: "127.0.0.1", port: server.port, username: "app", password, timeout: 300 };
    expect(await ping(target, never)).toBe(verdict);
    expect(server.commands[0]).toEqual(["AUTH", "app", password]);
    await vi.waitFor(() => expect(server.open()).toBe(0));
  });

  it("signs in as who the target says, and says nothing else but PING", async () => {
    const server = await startRespServer(database);
    const target = { host: "127.0.0.1", port: server.port };
    expect(await ping({ ...target, password }, never)).toBe("answered");
    expect(await ping(target, never)).toBe("answered");
    expect(server.commands).toEqual([["AUTH", password], ["PING"], ["PING"]]);
  });

  it("of a port where nobody listens", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    await new Promise((resolve) => server.close(resolve));
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    expect(await ping({ host: "127.0.0.1", port }, never)).toBe("unreachable");
  });

  it("of a name that nobody knows", async () => {
    expect(await ping({ host: `${"x".repeat(64)}.invalid`, port: 6379 }, never)).toBe("unresolved");
  });

  it("of a connection that is cut", async () => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    expect(await ping({ host: "127.0.0.1", port, username: "app", password }, never)).toBe("unreachable");
  });

  it.each([
    ["whose authority is given", { caFile }, "answered"],
    ["whose authority is not trusted", true, "not-trusted"],
    ["whose authority cannot be read", { caFile: `${caFile}.none` }, "not-trusted"],
    ["that is spoken to in clear", false, "unreachable"],
  ])("of a database with TLS %s", async (_, tls, verdict) => {
    const server = await startRespServer(database, true);
    const target = { host: "localhost", port: server.port, username: "app", password, tls, timeout: 500 };
    expect(await ping(target, never)).toBe(verdict);
  });

  it("ends with the reason of the signal, before and during", async () => {
    const server = await startRespServer(() => undefined);
    const target = { host: "127.0.0.1", port: server.port, username: "app", password, timeout: 60_000 };
    const stop = new AbortController();
    const verifying = ping(target, stop.signal);
    await vi.waitFor(() => expect(server.commands).toHaveLength(1));
    stop.abort(new Error("interrupted"));
    await expect(verifying).rejects.toThrow("interrupted");
    await expect(ping(target, stop.signal)).rejects.toThrow("interrupted");
    await vi.waitFor(() => expect(server.open()).toBe(0));
    expect(server.commands).toHaveLength(1);
  });
});

describe("a connection", () => {
  it("has no credentials in its errors", async () => {
    const server = await startRespServer(() => "-WRONGPASS invalid username-password pair\r\n");
    const target = { host: "127.0.0.1", port: server.port, username: "app", password };
    const error: unknown = await askAtOnce(target, [], never).catch((caught: unknown) => caught);
    const { inspect } = await import("node:util");
    expect(error).toMatchObject({ code: "database-refused-credentials", failure: "refused-credentials" });
    expect(inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true })).not.toContain("horse");
  });

  it("rejects a command whose answer does not come in time, and closes", async () => {
    const server = await startRespServer(([name]) => (name === "PING" ? undefined : "+OK\r\n"));
    const target = { host: "127.0.0.1", port: server.port, timeout: 200 };
    await expect(askAtOnce(target, [["PING"]], never)).rejects.toMatchObject({
      failure: "unreachable",
      message: expect.stringContaining("200 ms"),
    });
    await vi.waitFor(() => expect(server.open()).toBe(0));
  });

  it("signs in with the first of several writes, and gives each its own replies", async () => {
    const server = await startRespServer(database);
    const target = { host: "127.0.0.1", port: server.port, password };
    const replies = await talk(target, never, async (ask) => [
      await ask([["PING"], ["PING"]]),
      await ask([["PING"]]),
    ]);
    expect(replies).toEqual([["PONG", "PONG"], ["PONG"]]);
    expect(server.commands).toEqual([["AUTH", password], ["PING"], ["PING"], ["PING"]]);
  });
});
