import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type JsonObject, stableJson } from "../../src/model/json.ts";
import { fieldsOf, flatten, isWritten, nest, partOf } from "../../src/model/spec.ts";

const secret = { $secret: "hmac-sha256:1" };
const template = { $template: ["at ", { $ref: "toys.a.id" }] };
const nested: JsonObject = {
  tier: "pro",
  config: { size: 1, nested: { on: true }, list: [1, { a: 2 }], token: secret, note: template, none: null },
  customTags: {},
};
const spec = flatten(nested);

describe("a spec", () => {
  it("has its values by their paths; lists, secrets, templates and empty groups are values", () => {
    expect(Object.entries(spec)).toEqual([
      ["tier", "pro"],
      ["config.size", 1],
      ["config.nested.on", true],
      ["config.list", [1, { a: 2 }]],
      ["config.token", secret],
      ["config.note", template],
      ["config.none", null],
      ["customTags", {}],
    ]);
  });

  it("is nested again as it was, whatever it is, save for a dot in a key", () => {
    const key = fc.stringMatching(/^[a-z_]{1,9}$/);
    const any = fc.letrec<{ tree: JsonObject }>((tie) => ({
      tree: fc.dictionary(
        key,
        fc.oneof({ depthSize: "small" }, fc.string(), fc.integer(), fc.boolean(), tie("tree")),
      ),
    })).tree;
    expect(JSON.stringify(nest(spec))).toBe(JSON.stringify(nested));
    fc.assert(
      fc.property(any, (tree) => {
        expect(stableJson(nest(flatten(tree)))).toBe(stableJson(tree));
      }),
    );
  });

  it.each(["__proto__", "constructor", "toString"])("is harmless under the key %s", (key) => {
    const made = nest({ [`${key}.polluted`]: true });
    expect(Object.keys(made)).toEqual([key]);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
    expect(Object.entries(flatten(made))).toEqual([[`${key}.polluted`, true]]);
  });

  it("sets nothing by a group without entries", () => {
    expect(fieldsOf(spec).map(([path]) => path)).not.toContain("customTags");
    expect(fieldsOf(spec)).toHaveLength(7);
  });

  it("says what was written, and what a group holds", () => {
    const written = ["tier", "config", "config.nested", "customTags"].filter((path) => isWritten(spec, path));
    expect(written).toEqual(["tier", "config", "config.nested", "customTags"]);
    expect(["conf", "config.on", "power"].filter((path) => isWritten(spec, path))).toEqual([]);
    expect(partOf(spec, "config.nested")).toEqual({ on: true });
    expect(partOf(spec, "customTags")).toEqual({});
  });
});
