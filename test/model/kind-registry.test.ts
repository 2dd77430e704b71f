import { describe, expect, it } from "vitest";
import { kindRegistry } from "../../src/model/kind.ts";
import { toyKind } from "../support/toy-kind.ts";

describe("the registry of kinds", () => {
  const toy = toyKind();
  const registry = kindRegistry([toy]);

  it("has each kind by its section", () => {
    expect(registry.named(toy.name)).toBe(toy);
    expect(registry.find(toy.name)).toBe(toy);
    expect(registry.all).toEqual([toy]);
  });

  it("throws for a kind that the program forgot, and finds nothing under a name that somebody has made up", () => {
    expect(() => registry.named("martians")).toThrow('no kind is called "martians"');
    expect(registry.find("constructor")).toBeUndefined();
  });
});
