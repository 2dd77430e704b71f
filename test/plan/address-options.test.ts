import { describe, expect, it } from "vitest";
import { resolveAddressOptions } from "../../src/plan/address-options.ts";
import { growth, workOf } from "../support/work.ts";

const declared = [
  "instances.orders",
  'instances.cache["us"]',
  'instances.cache["eu"]',
  'instances.cache["*"]',
  "users.reader",
];
const known = { declared, bound: ["instances.orders", "instances.old"] };
const none = { targets: [], exclude: [], replace: [], allowDestroy: [] };

describe("a pattern of an option", () => {
  it.each<[string, string, readonly string[]]>([
    ["is an address", "instances.orders", ["instances.orders"]],
    ["is an address that only the state knows", "instances.old", ["instances.old"]],
    [
      "is a whole forEach",
      "instances.cache",
      ['instances.cache["us"]', 'instances.cache["eu"]', 'instances.cache["*"]'],
    ],
    ["is one member", 'instances.cache["eu"]', ['instances.cache["eu"]']],
    [
      "is that address where it is one, also where its key is a star",
      'instances.cache["*"]',
      ['instances.cache["*"]'],
    ],
    ["holds a star for anything", "users.*", ["users.reader"]],
    ["holds several", "*.c*e*u*", ['instances.cache["us"]', 'instances.cache["eu"]']],
    ["is no prefix", "instances.ord", []],
    ["is no suffix", "orders", []],
    ["overlaps with itself in nothing", "users.reader*reader", []],
  ])("%s", (_, pattern, expected) => {
    const { options, unknown } = resolveAddressOptions({ ...none, allowDestroy: [pattern] }, known);
    expect(unknown.map((each) => each.pattern)).toEqual(expected.length === 0 ? [pattern] : []);
    expect(options.allowDestroy).toEqual(expected.length === 0 ? [pattern] : expected);
  });

  it("that names nothing is told with its option, and never means everything", () => {
    const given = {
      targets: ["instances.nope"],
      exclude: ["x"],
      replace: ["instances.old"],
      allowDestroy: ["y"],
    };
    const { options, unknown } = resolveAddressOptions(given, known);
    expect(unknown.map(({ option, pattern }) => `${option} ${pattern}`)).toEqual([
      "--target instances.nope",
      "--exclude x",
      "--replace instances.old",
      "--allow-destroy y",
    ]);
    expect(options.targets).toEqual(["instances.nope"]);
  });

  it("may have been meant as the name of all members of a forEach", () => {
    const { unknown } = resolveAddressOptions({ ...none, targets: ["instances.cach"] }, known);
    expect(unknown.flatMap(({ candidates }) => candidates)).toContain("instances.cache");
  });

  it("costs no more than its length and the number of addresses", async () => {
    const many = Array.from({ length: 2000 }, (_, at) => `instances.${"a".repeat(200)}${at}`);
    const pattern = `${"*a".repeat(100)}*b`;
    const resolve = (declared: readonly string[]): unknown =>
      resolveAddressOptions({ ...none, targets: [pattern] }, { declared, bound: [] });
    expect(await growth(resolve, many.slice(0, 200), many)).toBeLessThan(12);
    expect(await workOf(() => resolve(many))).toBeLessThan(20 * pattern.length * many.join("").length);
  });
});
