import { describe, expect, it } from "vitest";
import { differingPaths, mayBeInFlightTogether } from "../../src/apply/evidence/in-flight-together.ts";
import type { Json } from "../../src/model/json.ts";
import { toySchema } from "../support/toy-kind.ts";

type Values = { readonly [path: string]: Json };

const red: Values = { colour: "red", size: 3, token: { $secret: "1" }, home: "house" };

describe("two creates of a class", () => {
  it.each<[string, Values, readonly string[], boolean]>([
    ["are alike", red, [], true],
    ["differ in what can be changed", { ...red, colour: "blue" }, [], true],
    ["differ in a secret that can be changed", { ...red, token: { $secret: "2" } }, [], true],
    ["differ in what is fixed after creation", { ...red, size: 2 }, [], false],
    ["differ in what is fixed, and the service shows that", { ...red, size: 2 }, ["size"], true],
    ["differ in what is fixed, and it shows something else", { ...red, size: 2 }, ["colour"], false],
    [
      "differ in what is fixed, and in something else that is shown",
      { ...red, size: 2, colour: "blue" },
      ["colour"],
      true,
    ],
    ["differ in a reference, which is an id where it is shown", { ...red, home: "barn" }, ["home"], false],
    [
      "differ by a fixed field that one of them leaves out",
      { colour: "red", token: { $secret: "1" }, home: "house" },
      [],
      false,
    ],
    [
      "differ by a changeable one that one of them leaves out, and no update takes away",
      { size: 3, token: { $secret: "1" }, home: "house" },
      [],
      false,
    ],
    ["differ in what an operation brings about", { ...red, power: "stopped" }, [], true],
  ])("that %s: may they be in flight together?", (_, other, shown, expected) => {
    const given = [{ recorded: red }, { recorded: other }] as const;
    expect(mayBeInFlightTogether(...given, toySchema, new Set(shown))).toBe(expected);
    expect(mayBeInFlightTogether(given[1], given[0], toySchema, new Set(shown))).toBe(expected);
  });
});

describe("the object of one of two creates", () => {
  it.each<[string, Values, readonly string[]]>([
    ["is as it should be where they are alike", {}, []],
    ["is given what differs, and nothing else", { colour: "blue" }, ["colour"]],
    ["is given its own secret", { token: { $secret: "2" } }, ["token"]],
    [
      "is given nothing that is fixed, a reference, or reached by operations",
      { size: 2, home: "barn", power: "stopped" },
      [],
    ],
  ])("%s", (_, differing, expected) => {
    const recorded = { ...red, memory: "1GB", power: "running" };
    const other = { recorded: { ...recorded, ...differing } };
    expect(differingPaths({ recorded }, [{ recorded }, other], toySchema)).toEqual(expected);
  });
});
