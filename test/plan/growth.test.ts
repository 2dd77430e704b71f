import { describe, expect, it } from "vitest";
import { makePlan } from "../../src/plan/make-plan.ts";
import { type Case, moveOf, planInput, type Rest } from "../support/plan-input.ts";
import { growth } from "../support/work.ts";

const red = { colour: "red", size: 1 };
const update: Case = { wants: { colour: "blue" }, has: red };
const kinds: { readonly [change: string]: (at: number) => Case } = {
  "stays as it is": () => ({ wants: red, has: red }),
  "is created": () => ({ wants: red }),
  "is created and refers to another": (at) => ({ wants: red, ...(at > 0 ? { refs: ["t0"] } : {}) }),
  "is updated": () => update,
  "is replaced": () => ({ wants: { size: 2 }, has: red }),
  "is deleted": () => ({ has: red }),
  "is gone": () => ({ wants: red, recorded: red }),
};

/** So many toys of one case. */
function scene(count: number, made: (at: number) => Case): { readonly [name: string]: Case } {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`t${at}`, made(at)]));
}

function input(count: number, made: (at: number) => Case, rest: Rest = {}): ReturnType<typeof planInput> {
  return planInput(scene(count, made), rest);
}

describe("a plan", () => {
  it.each(Object.keys(kinds))(
    "costs ten times as much for ten times as many of which each %s",
    async (name) => {
      const made = kinds[name] ?? (() => update);
      expect(await growth(makePlan, input(100, made), input(1000, made))).toBeLessThan(13);
    },
  );

  it("costs ten times as much for ten times as many moves", async () => {
    const moved = (count: number): ReturnType<typeof planInput> => {
      const moves = Array.from({ length: count }, (_, at) => moveOf(`old${at}`, `t${at}`));
      const from = Object.entries(scene(count, () => ({ has: red }))).map(([name, one]) => [
        name.replace("t", "old"),
        one,
      ]);
      return planInput(
        { ...Object.fromEntries(from), ...scene(count, () => ({ wants: red })) },
        { moved: moves },
      );
    };
    expect(await growth(makePlan, moved(100), moved(1000))).toBeLessThan(13);
  });
});
