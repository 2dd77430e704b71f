import { describe, expect, it } from "vitest";
import { orderedSets, probe } from "../../src/database/parameters.ts";
import { type Answer, bulk, startRespServer } from "./resp-server.ts";

const never = new AbortController().signal;

const info = [
  "# Memory\r\nused_memory:1000\r\nmaxmemory:6442450944\r\nmaxmemory_human:6.00G\r\n",
  "# Persistence\r\nloading:0\r\naof_enabled:1\r\n# Replication\r\nrole:master\r\nconnected_slaves:1\r\n",
].join("\r\n");
const pair = (name: string, value: number): string => `*2\r\n${bulk(name)}:${value}\r\n`;
const module = `*1\r\n*6\r\n${bulk("name")}${bulk("graph")}${bulk("ver")}:41603\r\n${bulk("args")}*0\r\n`;

const database: Answer = ([name]) => {
  if (name === "INFO") return bulk(info);
  if (name === "MODULE") return module;
  return `*3\r\n${pair("CACHE_SIZE", 25)}${pair("RESULTSET_SIZE", -1)}*2\r\n${bulk("TEMP_FOLDER")}${bulk("/tmp")}`;
};

describe("probe", () => {
  it("asks for all parameters, what INFO shows and the version, over one connection", async () => {
    const server = await startRespServer(database);
    const found = await probe({ host: "127.0.0.1", port: server.port }, never);
    expect(found).toMatchObject({
      parameters: { CACHE_SIZE: 25, RESULTSET_SIZE: -1, TEMP_FOLDER: "/tmp" },
      info: { maxmemory: "6442450944", aof_enabled: "1", role: "master", connected_slaves: "1" },
      engine: "4.16.3",
      denied: [],
    });
    expect(server.commands.map(([name]) => name)).toEqual(["GRAPH.CONFIG", "INFO", "MODULE"]);
  });

  it("names what the user may not ask", async () => {
    const server = await startRespServer(() => "-NOPERM this user has no permissions\r\n");
    expect(await probe({ host: "127.0.0.1", port: server.port }, never)).toEqual({
      parameters: {},
      info: {},
      denied: ["GRAPH.CONFIG", "INFO", "MODULE"],
    });
  });

  it("is not confused by answers of another shape", async () => {
    const server = await startRespServer(([name]) => (name === "INFO" ? ":1\r\n" : "+OK\r\n"));
    const found = await probe({ host: "127.0.0.1", port: server.port }, never);
    expect(found).toEqual({ parameters: {}, info: {}, denied: [] });
  });

  it("says that a database cannot be reached", async () => {
    const server = await startRespServer(() => undefined);
    const target = { host: "127.0.0.1", port: server.port, timeout: 200 };
    await expect(probe(target, never)).rejects.toMatchObject({ failure: "unreachable" });
  });

  it("tells a wrong password from every other refusal", async () => {
    const refusal = async (text: string): Promise<unknown> => {
      const server = await startRespServer(() => `-${text}\r\n`);
      return probe({ host: "127.0.0.1", port: server.port, username: "app", password: "x" }, never).catch(
        (error: unknown) => error,
      );
    };
    expect(await refusal("WRONGPASS invalid username-password pair or user is disabled.")).toMatchObject({
      failure: "refused-credentials",
      isWrongPassword: true,
    });
    expect(await refusal("ERR LDAP authentication failed")).toMatchObject({ isWrongPassword: false });
    expect(await refusal("LOADING the dataset")).toMatchObject({
      failure: "unreachable",
      isWrongPassword: false,
    });
  });

  it("says that a port speaks no TLS", async () => {
    const server = await startRespServer(() => "-ERR Protocol error\r\n");
    const target = { host: "127.0.0.1", port: server.port, tls: true, timeout: 500 };
    await expect(probe(target, never)).rejects.toMatchObject({
      failure: "no-tls",
    });
  });
});

describe("the commands that set time limits", () => {
  const now = { TIMEOUT_MAX: 500, TIMEOUT_DEFAULT: 100 };
  it.each([
    [
      "one command where both fit",
      { TIMEOUT_MAX: 400, TIMEOUT_DEFAULT: 200 },
      [["TIMEOUT_DEFAULT", "TIMEOUT_MAX"]],
    ],
    [
      "the maximum first, for a higher default",
      { TIMEOUT_MAX: 2000, TIMEOUT_DEFAULT: 1000 },
      [["TIMEOUT_MAX"], ["TIMEOUT_DEFAULT"]],
    ],
    [
      "the default first, for a lower maximum",
      { TIMEOUT_MAX: 50, TIMEOUT_DEFAULT: 20 },
      [["TIMEOUT_DEFAULT"], ["TIMEOUT_MAX"]],
    ],
    [
      "the maximum first, for none",
      { TIMEOUT_MAX: 0, TIMEOUT_DEFAULT: 1000 },
      [["TIMEOUT_MAX"], ["TIMEOUT_DEFAULT"]],
    ],
    ["one of them alone", { TIMEOUT_MAX: 50, CACHE: 1 }, [["CACHE", "TIMEOUT_MAX"]]],
  ])("are %s", (_, wanted, names) => {
    expect(orderedSets(wanted, now).map((command) => command.map(([name]) => name))).toEqual(names);
  });
});
