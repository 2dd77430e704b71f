import { describe, expect, it } from "vitest";
import { listed, nearest, suggest } from "../../src/manifest/problems/fault.ts";

describe("the nearest word", () => {
  const words = ["region", "tier", "component", "graphDBCacheSize", "graphDBTimeoutMax"];

  it.each([
    ["two letters swapped", "regoin", "region"],
    ["a letter too few", "regon", "region"],
    ["a letter too many", "tierr", "tier"],
    ["another case", "REGION", "region"],
    ["a part left out", "graphDBCache", "graphDBCacheSize"],
    ["something else", "banana", undefined],
    ["nothing", "", undefined],
    ["a very long word", "region".repeat(100), undefined],
  ])("%s: %s", (_, word, expected) => {
    expect(nearest(word, words)).toBe(expected);
  });

  it("comes first in the hint, before the list", () => {
    expect(suggest("teir", ["tier", "region"])).toBe('did you mean "tier"? allowed: tier, region');
    expect(suggest("x", ["tier", "region"], "keys")).toBe("keys: tier, region");
  });

  it("a long list is cut, an empty one says so", () => {
    expect(listed(Array.from({ length: 30 }, (_, index) => `w${index}`))).toMatch(
      /^allowed: w0, .*w23, and 6 more$/,
    );
    expect(listed([], "declared")).toBe("declared: none");
  });
});
