import { describe, expect, it } from "vitest";
import type { Seen } from "../../src/model/observed.ts";
import { overlay } from "../../src/model/values.ts";
import { planInput } from "../support/plan-input.ts";

const shown: { readonly [path: string]: Seen } = { colour: { value: "blue", source: "described" } };

function boundWith(
  recorded: { readonly [path: string]: string },
  sent: { readonly [path: string]: string } = {},
): Parameters<typeof overlay>[1] {
  const converging = { operation: "update", since: "2026-01-01T00:00:00.000Z", record: sent };
  return planInput({ a: { recorded, converging } }).state.resources["toys.a"];
}

describe("what was last applied", () => {
  it("stands in for what is not shown, and says so", () => {
    expect(overlay(shown, boundWith({ memory: "1GB" }), "ready")).toEqual({
      colour: { value: "blue", source: "described" },
      memory: { value: "1GB", source: "recorded" },
    });
  });

  it("yields to what is shown", () => {
    expect(overlay(shown, boundWith({ colour: "red" }), "ready")).toEqual(shown);
  });

  it("yields to what was sent since", () => {
    expect(overlay({}, boundWith({ memory: "1GB" }, { memory: "2GB" }), "ready")).toEqual({
      memory: { value: "2GB", source: "recorded" },
    });
  });

  it("is not known where what was sent since has failed", () => {
    expect(overlay({}, boundWith({ memory: "1GB", size: "2" }, { memory: "2GB" }), "failed")).toEqual({
      size: { value: "2", source: "recorded" },
    });
  });

  it("is nothing where nothing is bound", () => {
    expect(overlay(shown, undefined, "ready")).toBe(shown);
  });
});
