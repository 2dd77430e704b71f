import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { instanceSchema } from "../../src/fields/instance.ts";
import { type FieldSchema, fieldRows, parameterOf, pathOfInfo } from "../../src/model/field-schema.ts";
import type { Json } from "../../src/model/json.ts";
import type { RawValue } from "../../src/model/probe.ts";
import { readBack } from "../../src/model/values.ts";

const rows = fieldRows(instanceSchema);
const rowAt = (name: string): FieldSchema => rows.get(`config.${name}`) ?? {};

describe("what a database shows of a field", () => {
  it("covers the seven parameters of the graph module", () => {
    expect([...rows.values()].flatMap((row) => parameterOf(row) ?? []).sort()).toEqual([
      ...["CACHE_SIZE", "MAX_QUEUED_QUERIES", "NODE_CREATION_BUFFER", "QUERY_MEM_CAPACITY"],
      ...["RESULTSET_SIZE", "TIMEOUT_DEFAULT", "TIMEOUT_MAX"],
    ]);
  });

  it("is found by its line of INFO and its reading", () => {
    expect(pathOfInfo("maxmemory", "size", instanceSchema)).toBe("config.maxMemory");
    expect(pathOfInfo("maxmemory", "memory-label", instanceSchema)).toBe("config.memoryRequestsAndLimits");
    expect(pathOfInfo("maxmemory", "rows", instanceSchema)).toBeUndefined();
  });

  it.each<[why: string, field: string, declared: Json, raw: RawValue, shown: Json | undefined]>([
    ["is the declared value", "graphDBCacheSize", 25, 25, 25],
    ["is the declared value in its own spelling", "graphDBCacheSize", "25", 25, "25"],
    ["is another one", "graphDBCacheSize", 25, 26, 26],
    ["is rounded up to a power of two", "graphDBNodeCreationBuffer", 20_000, 32_768, 20_000],
    ["is a power of two already", "graphDBNodeCreationBuffer", 16_384, 16_384, 16_384],
    ["is rounded to another one", "graphDBNodeCreationBuffer", 20_000, 16_384, 16_384],
    ["is 128 at least", "graphDBNodeCreationBuffer", 1, 128, 1],
    ["is no limit, as -1", "graphDBResultSetSize", 0, -1, 0],
    ["gives no rows at all, and nobody means that", "graphDBResultSetSize", 0, 0, "no rows"],
    ["is no limit where one is declared", "graphDBResultSetSize", 10_000, -1, -1],
    ["is a large number as text", "graphDBQueryMemCapacity", 21_474_836_480, "21474836480", 21_474_836_480],
    ["is the bytes of a 1024-based size", "maxMemory", "6GB", "6442450944", "6GB"],
    ["is the bytes of a 1000-based size", "maxMemory", "6G", 6_000_000_000, "6G"],
    ["is another size", "maxMemory", "6GB", 1_073_741_824, "1GB"],
    ["is another size, 1000-based", "maxMemory", "6GB", "1500000000", "1500M"],
    ["is no whole size", "maxMemory", "6GB", "100", "100B"],
    ["is no limit of memory", "maxMemory", "6GB", "0", "no limit"],
    ["is the smaller size of a Startup database", "memoryRequestsAndLimits", "1200M", "1000000000", "1200M"],
    ["is the larger one", "memoryRequestsAndLimits", "2200M", 2_000_000_000, "2200M"],
    ["is another one of them", "memoryRequestsAndLimits", "2200M", 1_000_000_000, "1G"],
    ["cannot be told apart: on", "AOFPersistenceConfig", "always", "1", undefined],
    ["is off", "AOFPersistenceConfig", "always", "0", "off"],
    ["has all its replicas", "numReplicas", 2, "1", 2],
    ["has lost a replica, which is no setting", "numReplicas", 2, "0", undefined],
    ["is spoken over TLS", "enableTLS", true, true, true],
    ["is not spoken over TLS", "enableTLS", true, false, false],
    ["is proved by a login", "graphdbPassword", { $secret: "a" }, true, { $secret: "a" }],
    ["has nothing to show", "RDBPersistenceConfig", "low", 1, undefined],
  ])("%s: %s declared as %j, the engine says %j", (_, field, declared, raw, shown) => {
    expect(readBack(rowAt(field), raw, [declared])).toEqual(shown);
  });

  it("is what was last applied, where that is not declared any more", () => {
    expect(readBack(rowAt("graphDBNodeCreationBuffer"), 32_768, [1000, 20_000])).toBe(20_000);
  });

  it("is the declared value of every parameter of a database that was configured by it", () => {
    const parameters = [...rows.values()].filter((row) => parameterOf(row) !== undefined);
    fc.assert(
      fc.property(fc.constantFrom(...parameters), fc.double({ min: 0, max: 1, noNaN: true }), (row, part) => {
        const { minimum = 0, maximum = 0 } = row;
        const declared = Math.round(minimum + part * (maximum - minimum));
        const live = inEngine(parameterOf(row), declared);
        expect([readBack(row, live, [declared]), readBack(row, String(live), [declared])]).toEqual([
          declared,
          declared,
        ]);
      }),
    );
  });
});

/** What the engine makes of an argument, in its own words. */
function inEngine(name: string | undefined, value: number): number {
  if (name === "RESULTSET_SIZE") return value === 0 ? -1 : value;
  if (name !== "NODE_CREATION_BUFFER") return value;
  let rounded = 128;
  while (rounded < value) rounded *= 2;
  return rounded;
}
