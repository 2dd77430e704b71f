import { describe, expect, it } from "vitest";
import type { Desired } from "../../src/model/desired.ts";
import { makePlan } from "../../src/plan/make-plan.ts";
import { importerOf, type PlanInput, subjectsOf } from "../../src/plan/subjects.ts";
import { planInput, type Scene } from "../support/plan-input.ts";

/** A fleet that is imported, and how often its plan asks an address which object it imports. */
function asked(count: number): number {
  const names = Array.from({ length: count }, (_, at) => `t${at}`);
  const scene: Scene = Object.fromEntries(
    names.map((name) => [name, { wants: {}, has: {}, importId: name, id: name }]),
  );
  const input = planInput(scene);
  let looks = 0;
  const desired = input.desired.map((entry): Desired => {
    const { importId = "" } = entry;
    return Object.defineProperty({ ...entry }, "importId", {
      enumerable: true,
      get() {
        looks += 1;
        return importId;
      },
    });
  });
  makePlan({ ...input, desired });
  return looks;
}

describe("importerOf", () => {
  it("finds the other address that imports an object, and no address of another kind", () => {
    const scene = { a: { wants: {}, has: {}, id: "i-1" }, b: { wants: {}, importId: "i-1" } };
    const input: PlanInput = planInput(scene);
    const [first] = subjectsOf(input).chosen.values();
    expect(first?.address).toBe("toys.a");
    if (first === undefined) return;
    expect(importerOf(first, input)?.address).toBe("toys.b");
    expect(importerOf({ ...first, address: "toys.b" }, input)).toBeUndefined();
    expect(importerOf({ ...first, kind: "tools" }, input)).toBeUndefined();
  });

  it("costs twice as much for twice as many", () => {
    expect(asked(400) / asked(200)).toBeLessThanOrEqual(2.2);
  });
});
