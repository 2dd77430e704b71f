import { describe, expect, it } from "vitest";
import { isObject, type Json, stableJson } from "../../src/model/json.ts";

describe("stable JSON", () => {
  it.each<[string, Json, string]>([
    [
      "sorts keys, however deep",
      { b: 1, a: { d: [{ z: 1, y: 2 }], c: null } },
      '{"a":{"c":null,"d":[{"y":2,"z":1}]},"b":1}',
    ],
    ["keeps the order of lists", [2, 1], "[2,1]"],
    ["writes plain values", "a\n", '"a\\n"'],
    ["sorts by code unit, which is the same everywhere", { ä: 1, Z: 2, a: 3 }, '{"Z":2,"a":3,"ä":1}'],
    [
      "keeps a key that is a name of the language's own",
      JSON.parse('{"__proto__":{"b":1},"a":2}'),
      '{"__proto__":{"b":1},"a":2}',
    ],
  ])("%s", (_, value, text) => {
    expect(stableJson(value)).toBe(text);
  });

  it("indents where it is told to", () => {
    expect(stableJson({ b: [1], a: 2 }, 2)).toBe('{\n  "a": 2,\n  "b": [\n    1\n  ]\n}');
  });
});

describe("an object", () => {
  it.each<[unknown, boolean]>([
    [{}, true],
    [{ a: 1 }, true],
    [[], false],
    [null, false],
    [undefined, false],
    ["{}", false],
  ])("%j: %s", (value, expected) => {
    expect(isObject(value)).toBe(expected);
  });
});
