import { describe, expect, it } from "vitest";
import type { Json } from "../../src/model/json.ts";
import { readInstanceTypes, readProfile } from "../../src/platform/model/instance-types.ts";

const gigabyte = 1024 ** 3;

describe("instance types", () => {
  it("are those of the package's default profile", async () => {
    const types = readInstanceTypes(await readProfile("default"));
    expect(types["aws"]?.["t4g.medium"]).toBe(4 * gigabyte);
    expect(types["aws"]?.["m7g.8xlarge"]).toBe(128 * gigabyte);
    expect(types["gcp"]?.["e2-custom-4-8192"]).toBe(8 * gigabyte);
  });

  const malformed: readonly [string, Json][] = [
    ["no object", 5],
    ["no types", {}],
    ["types that are none", { instanceTypes: ["a"] }],
  ];
  it.each(malformed)("of a profile that has %s are none", (_why, profile) => {
    expect(readInstanceTypes(profile)).toEqual({});
  });

  it("leave out what has no memory", () => {
    const types = readInstanceTypes({
      instanceTypes: { aws: { a: { memoryGB: "4" }, b: { memoryGB: 1 }, c: null } },
    });
    expect(types).toEqual({ aws: { b: gigabyte } });
  });
});
