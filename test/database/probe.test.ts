import { describe, expect, it } from "vitest";
import { probe } from "../../src/database/probe.ts";
import { sameParameter } from "../../src/database/same-parameter.ts";
import { instanceSchema } from "../../src/fields/instance.ts";
import { type Answer, bulk, startRespServer } from "./resp-server.ts";

const never = new AbortController().signal;

const parameters = Object.values(instanceSchema.properties["config"]?.properties ?? {}).flatMap(
  (row) => row["x-parameter"] ?? [],
);

const info: { readonly [section: string]: string } = {
  memory: "# Memory\r\nused_memory:1000\r\nmaxmemory:6442450944\r\nmaxmemory_human:6.00G\r\n",
  persistence: "# Persistence\r\nloading:0\r\naof_enabled:1\r\n",
  replication: "# Replication\r\nrole:master\r\nconnected_slaves:1\r\n",
};

const database: Answer = ([name, ...args]) => {
  if (name === "INFO") return bulk(info[args[0] ?? ""] ?? "");
  if (args[1] === "TIMEOUT_MAX") return "-NOPERM this user has no permissions\r\n";
  if (args[1] === "TIMEOUT_DEFAULT") return "-Unknown configuration field\r\n";
  if (args[1] === "CACHE_SIZE") return `*2\r\n${bulk("CACHE_SIZE")}:25\r\n`;
  if (args[1] === "RESULTSET_SIZE") return `*2\r\n${bulk("RESULTSET_SIZE")}:-1\r\n`;
  return `*2\r\n${bulk(args[1] ?? "")}${bulk("21474836480")}`;
};

describe("probe", () => {
  it("asks for every parameter of the field table, and leaves out what it may not know", async () => {
    const server = await startRespServer(database);
    const found = await probe({ host: "127.0.0.1", port: server.port }, parameters, never);
    expect(parameters).toHaveLength(7);
    expect(found).toEqual({
      CACHE_SIZE: 25,
      MAX_QUEUED_QUERIES: 21_474_836_480,
      NODE_CREATION_BUFFER: 21_474_836_480,
      QUERY_MEM_CAPACITY: 21_474_836_480,
      RESULTSET_SIZE: -1,
      maxmemory: 6_442_450_944,
      aof_enabled: 1,
      connected_slaves: 1,
    });
  });

  it("finds nothing where the user may nothing", async () => {
    const server = await startRespServer(() => "-NOPERM this user has no permissions\r\n");
    expect(await probe({ host: "127.0.0.1", port: server.port }, parameters, never)).toEqual({});
  });

  it("is not confused by answers of another shape", async () => {
    const server = await startRespServer(([name]) => (name === "INFO" ? ":1\r\n" : "+OK\r\n"));
    expect(await probe({ host: "127.0.0.1", port: server.port }, parameters, never)).toEqual({});
  });

  it("says that a database cannot be reached", async () => {
    const server = await startRespServer(() => undefined);
    const target = { host: "127.0.0.1", port: server.port, timeout: 200 };
    await expect(probe(target, parameters, never)).rejects.toMatchObject({ failure: "unreachable" });
  });
});

describe("sameParameter", () => {
  it.each([
    ["CACHE_SIZE", 25, 25, true],
    ["CACHE_SIZE", "25", 25, true],
    ["CACHE_SIZE", 25, 26, false],
    ["NODE_CREATION_BUFFER", 16_384, 16_384, true],
    ["NODE_CREATION_BUFFER", 20_000, 32_768, true],
    ["NODE_CREATION_BUFFER", 16_385, 32_768, true],
    ["NODE_CREATION_BUFFER", 20_000, 16_384, false],
    ["NODE_CREATION_BUFFER", 1, 128, true],
    ["NODE_CREATION_BUFFER", 256, 128, false],
    ["RESULTSET_SIZE", 0, -1, true],
    ["RESULTSET_SIZE", 0, 0, true],
    ["RESULTSET_SIZE", 10_000, -1, false],
    ["QUERY_MEM_CAPACITY", 21_474_836_480, "21474836480", true],
    ["TIMEOUT_MAX", 0, 1000, false],
    ["maxmemory", "6GB", 6_442_450_944, true],
    ["maxmemory", "6G", 6_442_450_944, false],
    ["maxmemory", "6G", 6_000_000_000, true],
    ["aof_enabled", "yes", "yes", true],
    ["aof_enabled", "yes", 1, false],
  ])("%s declared as %s, live %s: %s", (parameter, declared, live, same) => {
    expect(sameParameter(parameter, declared, live)).toBe(same);
  });
});
