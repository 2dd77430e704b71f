import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type JsonObject, stableJson } from "../../src/model/json.ts";
import { fromLeaves, leaves, valueAt } from "../../src/model/spec-paths.ts";

const secret = { $secret: "hmac-sha256:1" };
const template = { $template: ["at ", { $ref: "toys.a.id" }] };
const spec: JsonObject = {
  tier: "pro",
  config: { size: 1, nested: { on: true }, list: [1, { a: 2 }], token: secret, note: template, none: null },
};

describe("the leaves of a spec", () => {
  it("are its values; lists, secrets and templates are leaves", () => {
    expect([...leaves(spec)]).toEqual([
      ["tier", "pro"],
      ["config.size", 1],
      ["config.nested.on", true],
      ["config.list", [1, { a: 2 }]],
      ["config.token", secret],
      ["config.note", template],
      ["config.none", null],
    ]);
  });

  it("make the spec again", () => {
    expect(fromLeaves(leaves(spec))).toEqual(spec);
  });

  it("make any spec again that has no empty branch and no dot in a key", () => {
    const key = fc.stringMatching(/^[a-z_]{1,9}$/);
    const any = fc.letrec<{ tree: JsonObject }>((tie) => ({
      tree: fc.dictionary(
        key,
        fc.oneof({ depthSize: "small" }, fc.string(), fc.integer(), fc.boolean(), tie("tree")),
        { minKeys: 1 },
      ),
    })).tree;
    fc.assert(
      fc.property(any, (tree) => {
        expect(stableJson(fromLeaves(leaves(tree)))).toBe(stableJson(tree));
      }),
    );
  });

  it.each(["__proto__", "constructor", "toString"])("are harmless under the key %s", (key) => {
    const made = fromLeaves([[`${key}.polluted`, true]]);
    expect(Object.keys(made)).toEqual([key]);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
    expect([...leaves(made)]).toEqual([[`${key}.polluted`, true]]);
  });
});

describe("the value at a path", () => {
  it.each([
    ["tier", "pro"],
    ["config.nested.on", true],
    ["config.token", secret],
    ["config.none", null],
    ["config.missing", undefined],
    ["tier.deeper", undefined],
    ["config.list.0", undefined],
    ["constructor", undefined],
    ["config.__proto__", undefined],
  ])("%s", (path, value) => {
    expect(valueAt(spec, path)).toEqual(value);
  });
});
