import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatAddress, parseAddress } from "../../src/model/address.ts";

describe("an address", () => {
  it.each([
    ["instances.orders", { section: "instances", name: "orders" }],
    ['instances.cache["us-east-1"]', { section: "instances", name: "cache", key: "us-east-1" }],
    ['users.reader["a \\"b\\" ] c"]', { section: "users", name: "reader", key: 'a "b" ] c' }],
    ['users.reader[""]', { section: "users", name: "reader", key: "" }],
    ["cloudAccounts.prod-aws_1", { section: "cloudAccounts", name: "prod-aws_1" }],
  ])("%s is read and written", (text, parts) => {
    expect(parseAddress(text)).toEqual(parts);
    expect(formatAddress(parts)).toBe(text);
  });

  it.each([
    "",
    "orders",
    "instances.",
    ".orders",
    "instances.a.b",
    "instances.a[b]",
    'instances.a["b"',
    'instances.a["\\x"]',
    "in stances.a",
    "instances.-a",
  ])("%j is none", (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it("takes any text for a key", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (key) => {
        const parts = { section: "instances", name: "cache", key };
        expect(parseAddress(formatAddress(parts))).toEqual(parts);
      }),
    );
  });
});
