import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parameterOf } from "../../src/model/field-schema.ts";
import type { Json, JsonObject } from "../../src/model/json.ts";
import { setupEngine } from "../../src/platform/engine/index.ts";
import { paramRows } from "../../src/platform/model/field-rules.ts";
import { ask } from "../support/local-platform.ts";
import { asOperator } from "./engine/fixture.ts";
import { at, components, enterprise, poll, pro, startTest, type TestPlatform } from "./harness.ts";

await setupEngine();

const startup = `${components}/hosted/startup/standalone`;
const free = `${components}/hosted/free/free`;
const zoned = `${components}/hosted/pro/single-zone`;
const own = { graphdbUser: "app", graphdbPassword: "a-real-password" };
const mebibyte = 1024 ** 2;
const gibibyte = 1024 ** 3;

let test: TestPlatform;
beforeAll(async () => {
  test = await startTest({}, "real");
}, 240_000);
afterAll(() => test.close());

/** A database as the platform runs it. */
interface Running {
  readonly path: string;
  readonly described: JsonObject;
  /** Asks as somebody who may ask everything. */
  config(name: string): Promise<string>;
  parameter(name: string): Promise<unknown>;
  /** Asks as the instance's own user. */
  ask(...command: readonly string[]): Promise<unknown>;
}

async function run(place: string, params: JsonObject = {}, top: JsonObject = {}): Promise<Running> {
  const id = await test.create(place, params, top);
  return look(
    `${place}/${id}`,
    String(params["graphdbUser"] ?? "default"),
    String(params["graphdbPassword"] ?? ""),
  );
}

async function look(path: string, username: string, password: string): Promise<Running> {
  const { body } = await poll(async () => {
    const answer = await test.call("GET", path);
    return answer.body["status"] === "RUNNING" || answer.body["status"] === "FAILED" ? answer : undefined;
  }, path);
  expect([body["status"], JSON.stringify(body)]).toEqual(["RUNNING", expect.any(String)]);
  const port = Number(at(body, "result_params", "graphdbPort"));
  const spec = { dir: join(test.dataDir, "databases", path.slice(path.lastIndexOf("/") + 1)) };
  const reachable = { host: "127.0.0.1", port: () => port };
  const asked = (command: readonly string[]) => asOperator({ ...nothing, ...spec }, reachable, command);
  const second = (reply: unknown): unknown => (Array.isArray(reply) ? reply[1] : reply);
  return {
    path,
    described: body,
    config: async (name) => {
      const reply = await asked(["CONFIG", "GET", name]);
      return String(
        typeof reply === "object" && reply !== null ? (Object.values(reply).at(-1) ?? "") : reply,
      );
    },
    parameter: async (name) => second(await asked(["GRAPH.CONFIG", "GET", name])),
    ask: (...command) => ask(`127.0.0.1:${port}`, { username, password }, ...command),
  };
}

const nothing = { user: "app", password: "", nodes: 1, parameters: {} } as const;

/** One field with a value that is not its default, and what shows that the database has it. */
interface Row {
  readonly field: string;
  readonly value: Json;
  readonly place?: string;
  readonly shows: (database: Running) => Promise<unknown>;
  readonly as: unknown;
}

const parameter = (field: string, value: number, name: string, as: number = value): Row => ({
  field,
  value,
  shows: (database) => database.parameter(name),
  as,
});
const pinged = (database: Running) => database.ask("PING");

const rows: readonly Row[] = [
  parameter("graphDBCacheSize", 256, "CACHE_SIZE"),
  parameter("graphDBCacheSize", 1, "CACHE_SIZE"),
  parameter("graphDBMaxQueuedQueries", 1, "MAX_QUEUED_QUERIES"),
  parameter("graphDBMaxQueuedQueries", 512, "MAX_QUEUED_QUERIES"),
  parameter("graphDBNodeCreationBuffer", 256, "NODE_CREATION_BUFFER"),
  parameter("graphDBNodeCreationBuffer", 32_768, "NODE_CREATION_BUFFER"),
  parameter("graphDBQueryMemCapacity", 5_242_880, "QUERY_MEM_CAPACITY"),
  parameter("graphDBResultSetSize", 1, "RESULTSET_SIZE"),
  parameter("graphDBResultSetSize", 1_000_000, "RESULTSET_SIZE"),
  parameter("graphDBResultSetSize", 0, "RESULTSET_SIZE", -1),
  parameter("graphDBTimeoutDefault", 45_000, "TIMEOUT_DEFAULT"),
  parameter("graphDBTimeoutMax", 45_000, "TIMEOUT_MAX"),
  {
    field: "AOFPersistenceConfig",
    value: "always",
    shows: (database) => database.config("appendfsync"),
    as: "always",
  },
  {
    field: "RDBPersistenceConfig",
    value: "high",
    shows: (database) => database.config("save"),
    as: "3600 1 300 100 60 10000",
  },
  {
    field: "RDBPersistenceConfig",
    value: "medium",
    shows: (database) => database.config("save"),
    as: "21600 1 3600 100 300 10000",
  },
  { field: "maxMemory", value: "10M", shows: (database) => database.config("maxmemory"), as: "10000000" },
  {
    field: "maxMemory",
    value: "7 GiB",
    shows: (database) => database.config("maxmemory"),
    as: String(7 * gibibyte),
  },
  {
    field: "memoryRequestsAndLimits",
    value: "2200M",
    place: startup,
    shows: (database) => database.config("maxmemory"),
    as: "2000000000",
  },
  {
    field: "nodeInstanceType",
    value: "r7g.large",
    place: pro,
    shows: (database) => database.config("maxmemory"),
    as: String(12 * gibibyte),
  },
  { field: "graphdbUser", value: "another_1", shows: pinged, as: "PONG" },
  { field: "graphdbPassword", value: ' "a b" \\ \n é ', shows: pinged, as: "PONG" },
];

/** Fields whose effect other tests show, or that have none here; the page says which. */
const elsewhere: { readonly [field: string]: RegExp } = {
  numReplicas: /two nodes/,
  enableTLS: /speaks TLS/,
  name: /recorded only/,
  description: /recorded only/,
  enableEnterpriseModule: /recorded only/,
  cloud_provider_account_config_id: /recorded only/,
  cloud_provider_native_network_id: /recorded only/,
};

describe("each field has an effect on the database", () => {
  it.each(rows)("$field $value", async ({ field, value, place = enterprise, shows, as }) => {
    const database = await run(place, { ...own, [field]: value });
    expect(await shows(database)).toEqual(as);
  });

  it("and is shown here, or its page says that it has none", async () => {
    const shown = new Set([...rows.map(({ field }) => field), ...Object.keys(elsewhere)]);
    expect(Object.keys(paramRows).filter((field) => !shown.has(field))).toEqual([]);
    const page = await readFile(new URL("../../docs/local-platform.md", import.meta.url), "utf8");
    const [, recorded = ""] = page.split("## Recorded only");
    for (const [field, why] of Object.entries(elsewhere)) {
      if (String(why) === "/recorded only/")
        expect([field, recorded]).toEqual([field, expect.stringContaining(field)]);
    }
  });

  it("rows without a limit are all returned", async () => {
    const database = await run(pro, { ...own, graphDBResultSetSize: 0 });
    const reply = await database.ask("GRAPH.QUERY", "g", "UNWIND range(1, 12000) AS i RETURN i");
    expect(Array.isArray(reply) && Array.isArray(reply[1]) ? reply[1].length : reply).toBe(12_000);
  });

  it("all at their least and all at their most start, alone and with a replica", async () => {
    const numbers = Object.entries(paramRows).filter(([, row]) => parameterOf(row) !== undefined);
    for (const bound of ["minimum", "maximum"] as const) {
      const params = Object.fromEntries(
        numbers.map(([name, row]): [string, Json] => [name, row[bound] ?? 0]),
      );
      for (const place of [enterprise, zoned]) {
        const database = await run(place, { ...own, ...params });
        expect(await database.ask("GRAPH.QUERY", "g", "CREATE (:N)")).toBeInstanceOf(Array);
      }
    }
  });
});

describe("what each tier has where nothing is asked for", () => {
  it.each([
    ["enterprise", enterprise, String(6 * gibibyte), "yes"],
    ["pro", pro, String(2 * gibibyte), "yes"],
    ["startup", startup, "1000000000", "yes"],
    ["free", free, String(100 * mebibyte), "no"],
  ])("%s", async (_tier, place, memory, aof) => {
    const database = await run(place, own);
    expect([await database.config("maxmemory"), await database.config("appendonly")]).toEqual([memory, aof]);
    expect(await database.config("save")).toBe("86400 1 21600 100 3600 10000");
    expect(await database.parameter("QUERY_MEM_CAPACITY")).toBe(place === free ? 52_428_800 : 21_474_836_480);
  });

  it("pro on a cloud whose types nobody knows has the memory of the default type", async () => {
    for (const params of [own, { ...own, nodeInstanceType: "Standard_E8" }]) {
      const database = await run(pro, params, { cloud_provider: "azure" });
      expect(await database.config("maxmemory")).toBe(String(2 * gibibyte));
    }
  });

  it.each(["constructor", "__proto__", "toString", "x9.huge"])(
    "an instance type that is called %s is one that nobody knows",
    async (nodeInstanceType) => {
      const params = JSON.parse(JSON.stringify({ ...own, nodeInstanceType }));
      const database = await run(enterprise, params);
      expect(await database.config("maxmemory")).toBe(String(6 * gibibyte));
    },
  );

  it("a generated password is shown, opens the database, and stays the same", async () => {
    const database = await run(enterprise);
    const shown = (name: string): string => String(at(database.described, "result_params", name));
    const [graphdbUser, graphdbPassword] = [shown("graphdbUser"), shown("graphdbPassword")];
    const again = await look(database.path, graphdbUser, graphdbPassword);
    expect(await again.ask("PING")).toBe("PONG");
    await test.call("POST", `${database.path}/restart`);
    await test.until(database.path, "RUNNING");
    expect(await (await look(database.path, graphdbUser, graphdbPassword)).ask("PING")).toBe("PONG");
    const log = await readFile(join(test.dataDir, "requests.jsonl"), "utf8");
    expect(log).not.toContain(graphdbPassword);
    expect((await test.call("GET", "/_platform/status")).text).not.toContain(graphdbPassword);
    await test.call("PUT", database.path, { requestParams: { graphdbPassword: "my-own-word" } });
    const { body } = await test.until(database.path, "RUNNING");
    expect(body["result_params"]).toEqual({ graphdbHostname: "127.0.0.1", graphdbPort: expect.any(Number) });
    expect(await (await look(database.path, "default", "my-own-word")).ask("PING")).toBe("PONG");
  });
});
